#include "program_runner.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>

#include "../end_flag.hpp"
#include "../launch_rules.hpp"
#include "../outcome.hpp"
#include "../run_meeting.hpp"
#include "device_guard.hpp"
#include "residency.hpp"
#include "running_program.hpp"

namespace starling::on_cuda {
namespace {

using clock = std::chrono::steady_clock;

}  // namespace

program_runner::program_runner(const parts& machine, const driver_api& driver, double default_deadline,
                               process_group* processes, std::atomic<std::uint64_t>& ended)
    : machine_(machine),
      default_deadline_(default_deadline),
      processes_(processes),
      ended_(ended),
      copies_(machine, driver),
      one_(1, machine.driven().front().id) {
  one_[0] = 1;
}

program_runner::~program_runner() = default;

void program_runner::run(const std::vector<program>& programs, recorder* tracer, gpu_cards* cards) {
  const std::lock_guard lock(mutex_);
  expect_idle("machine::run");
  if (processes_ != nullptr) run_meeting(*processes_).begin(programs, tracer != nullptr);
  const clock_alignment clocks = tracer != nullptr ? align_clocks() : clock_alignment{};
  if (cards == nullptr) return void(run_all(programs, tracer, clocks));
  std::exception_ptr refused;
  try {
    cards->prepare(programs);
    cards->start();
  } catch (const error&) {
    refused = std::current_exception();
  }
  const bool beside = !refused && cards->are_program();
  try {
    (void)run_all(beside ? cards->with_cards(programs) : programs, tracer, clocks, cards, refused);
  } catch (const error&) {
    cards->stop();  // if it fails, that is why
    throw;
  }
}

// Cards that are threads. Before the other processes learn that the run is over here.
void program_runner::stop(gpu_cards& cards, std::exception_ptr& refused) {
  try {
    cards.stop();
  } catch (const error&) {
    if (!refused) refused = std::current_exception();
  }
}

// The better of two: in the first one the GPUs may have been asleep.
clock_alignment program_runner::align_clocks() {
  if (!aligner_) aligner_ = std::make_unique<clock_aligner>(machine_);
  clock_alignment best;
  for (int i = 0; i < 2; ++i) {
    const std::vector<program> exchange = {aligner_->next()};
    const clock_alignment found = aligner_->result(run_all(exchange, nullptr, {}));
    if (processes_ != nullptr) processes_->meet("machine::run");  // all have read what is cleared next
    if (i == 0 || found.host_error < best.host_error) best = found;
  }
  return best;
}

run_times program_runner::run_all(const std::vector<program>& programs, recorder* tracer, const clock_alignment& clocks,
                                  gpu_cards* cards, std::exception_ptr refused) {
  failure_ = cudaSuccess;
  ++runs_;
  std::vector<running> all;
  try {
    if (!refused) all = prepare(programs, tracer, cards);
  } catch (const error&) {
    refused = std::current_exception();
  }
  run_times ran;
  ran.start = target::now_ns();
  meet_prepared(refused);
  try {
    start(all, cards);
  } catch (...) {
    refused = std::current_exception();
    for (const running& r : all) end(r);  // what has started waits for what has not
  }
  const bool over = wait(all, refused);
  if (over) finish_copies(refused);
  if (cards != nullptr) stop(*cards, refused);
  try {
    meet_ended(all, refused);
  } catch (const error&) {
    if (!refused) refused = std::current_exception();
  }
  ran.end = target::now_ns();
  if (!over) {  // its rings are still written to
    leave_alone(all);
    if (refused && failure_ == cudaSuccess) std::rethrow_exception(refused);
    throw_outcome(all);
  }
  await_ends_sent();
  std::exception_ptr not_recorded;
  if (tracer != nullptr && failure_ == cudaSuccess) {
    try {
      record(all, *tracer, machine_.n_pes(), ran, clocks);
    } catch (const error&) {  // the run's own failure comes first
      not_recorded = std::current_exception();
    }
  }
  if (failure_ == cudaSuccess)
    for (const running& r : all) r.on->clear_control();
  const auto cleared = [&all] {
    for (const running& r : all)
      if (r.failed) r.on->clear_reports();
  };
  try {
    if (refused && failure_ == cudaSuccess) std::rethrow_exception(refused);
    throw_outcome(all);
  } catch (...) {
    cleared();
    throw;
  }
  if (not_recorded) std::rethrow_exception(not_recorded);
  return ran;
}

void program_runner::record(std::vector<running>& all, recorder& tracer, int n_pes, const run_times& ran,
                            const clock_alignment& clocks) {
  for (running& r : all) {
    if (r.cards) continue;
    program_log log(n_pes, r.roles.first[r.roles.count], tracer.capacity());
    r.on->rings().collect(log);
    tracer.add(r.what->roles, log, ran.start, ran.end, clocks);
  }
}

std::vector<program_runner::running> program_runner::prepare(const std::vector<program>& programs,
                                                             const recorder* tracer, const gpu_cards* cards) {
  while (lanes_.size() < programs.size()) lanes_.push_back(std::make_unique<program_lane>(machine_));
  std::vector<running> all(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    running& r = all[i];
    r.what = &programs[i];
    r.on = lanes_[i].get();
    r.roles = programs[i].roles.resolve();
    r.deadline = deadline_of(programs[i].options, default_deadline_);
    r.launched.resize(machine_.gpus.size());
    r.ended.resize(machine_.gpus.size());
    r.on->prepare(r.roles.first[r.roles.count]);
    r.on->clear_control();
    r.cards = cards != nullptr && cards->are_program() && i + 1 == programs.size();
    r.traced = tracer != nullptr && !r.cards;
    if (r.traced) r.on->rings().prepare(r.roles.first[r.roles.count], tracer->capacity());
  }
  make_room_for_launches(programs);
  for (const gpu& g : machine_.driven()) {
    const int split = residency_on(g, machine_.kernels, with_launches(programs)).shared_memory;
    for (running& r : all) {
      r.local_bytes = std::max(r.local_bytes, machine_.kernels.facts(r.what->k, r.what->options, g.pe).local_bytes);
      machine_.kernels.prefer_shared_memory(r.what->k, g.pe, split);
    }
  }
  copies_.prepare(programs);
  for (const running& r : all) r.on->await_cleared();
  return all;
}

// What kernels launch waits in memory of the GPU, for which CUDA has a limit. Nothing of ours runs.
void program_runner::make_room_for_launches(const std::vector<program>& programs) {
  std::size_t most = 0;
  for (const program& p : programs) most += static_cast<std::size_t>(p.most_pending);
  if (most == 0) return;
  device_guard guard;
  for (const gpu& g : machine_.driven()) {
    if (g.pe != g.first_pe) continue;
    const std::size_t wanted = most * static_cast<std::size_t>(g.info.pes_on_gpu);
    guard.use(g.id);
    std::size_t now = 0;
    check(cudaDeviceGetLimit(&now, cudaLimitDevRuntimePendingLaunchCount), "cudaDeviceGetLimit", g.pe);
    if (now < wanted)
      check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, wanted),
            "cudaDeviceSetLimit (launches from kernels)", g.pe);
  }
}

void program_runner::start(std::vector<running>& all, const gpu_cards* cards) {
  // A kernel that needs more local memory than any before it makes its GPU wait for what runs there: largest first.
  std::vector<running*> order;
  for (running& r : all) order.push_back(&r);
  std::stable_sort(order.begin(), order.end(),
                   [](const running* a, const running* b) { return a->local_bytes > b->local_bytes; });
  device_guard guard;
  for (running* r : order) {
    for (const gpu& g : machine_.driven()) {
      program_state state = machine_.state(g.pe, r->roles, r->what->options, r->deadline);
      state.control = r->on->words();
      state.reports = r->on->reports(g.pe);
      state.report_slots = static_cast<std::uint32_t>(state.n_blocks);
      if (r->traced) state.trace = r->on->rings().on(g.pe);
      if (cards != nullptr && !r->cards) state.network = cards->view(static_cast<std::size_t>(r - all.data()), g.pe);
      guard.use(g.id);
      r->on->mark_used();
      launch(g, r->on->stream(g.pe), r->what->k, r->what->options.threads, state,
             all.size() == 1 && launches_cooperatively(g, r->what->k));
      r->launched[static_cast<std::size_t>(g.pe)] = true;
    }
  }
}

// A kernel ends, because each of its waits has a deadline, unless a block loops without waiting. The host polls, so
// that it can end the others at once when one fails. Returns false when the programs were ended and still run a while
// later.
bool program_runner::wait(std::vector<running>& all, std::exception_ptr& refused) {
  constexpr auto eager = std::chrono::milliseconds(1);
  constexpr auto nap = std::chrono::microseconds(50);
  constexpr auto between_readings = std::chrono::milliseconds(5);
  const auto begin = clock::now();
  auto next_reading = begin + between_readings;
  std::optional<clock::time_point> ended;
  std::optional<clock::time_point> alone_since;  // cards
  bool cards_told = false;
  while (true) {
    bool busy = false;
    for (running& r : all) {
      if (!r.over) look(r, all);
      busy = busy || !r.over;
    }
    if (!busy) return true;
    const bool served = std::all_of(all.begin(), all.end(), [](const running& r) { return r.over || r.cards; });
    if (served && !alone_since) alone_since = clock::now();
    if (served && !cards_told && clock::now() - *alone_since > eager) {
      cards_told = true;
      end_cards(all);
    }
    if (!ended && !refused) put_copies(all, refused);
    const auto now = clock::now();
    if (now >= next_reading) {
      next_reading = now + between_readings;
      const bool reported = std::any_of(all.begin(), all.end(), [](const running& r) { return r.reported(); });
      if (!ended && (refused != nullptr || reported || failure_ != cudaSuccess || lost_ || ended_ >= runs_)) {
        ended = now;
        for (const running& r : all)
          if (!r.over) end(r);
      }
      if (ended && now - *ended > grace) {
        for (running& r : all) r.failed = r.reported();
        return false;
      }
    }
    if (copies_.active() || now - begin < eager)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(nap);
  }
}

// Cards end by themselves when all blocks have; where some have not counted, because they failed, the host ends them.
void program_runner::end_cards(const std::vector<running>& all) {
  for (const running& r : all)
    if (!r.over) end(r);
}

void program_runner::put_copies(std::vector<running>& all, std::exception_ptr& refused) {
  try {
    copies_.step();
  } catch (const error&) {
    refused = std::current_exception();
    for (const running& r : all) end(r);
  }
}

// The kernels are over. Their own failure comes first.
void program_runner::finish_copies(std::exception_ptr& refused) {
  try {
    copies_.finish();
  } catch (const error&) {
    if (!refused) refused = std::current_exception();
  }
}

void program_runner::look(running& r, std::vector<running>& all) {
  device_guard guard;
  bool over = true;
  for (const gpu& g : machine_.driven()) {
    const auto pe = static_cast<std::size_t>(g.pe);
    if (!r.launched[pe] || r.ended[pe]) continue;
    cudaError_t state = guard.select(g.id);
    if (state == cudaSuccess) state = cudaStreamQuery(r.on->stream(g.pe));
    if (state != cudaSuccess) (void)cudaGetLastError();
    if (state == cudaErrorNotReady) {
      over = false;
      continue;
    }
    r.ended[pe] = true;
    if (state == cudaSuccess || failure_ != cudaSuccess) continue;
    failure_ = state;
    failed_pe_ = g.pe;
    for (const running& other : all) end(other);  // their blocks would wait for this PE until their deadlines
  }
  r.over = over;
  if (!over || !r.reported()) return;
  r.failed = true;
  end_flag::raise(ended_, runs_);
  for (const running& other : all)
    if (!other.over) end(other);
}

// Raises the abort word on every PE of this host, of other processes too, past the kernels: copy engines are free
// whatever runs, once no stream waits for what kernels that are ended would raise. Other hosts are told.
void program_runner::end(const running& r) {
  copies_.release();
  if (!r.cards) end_flag::raise(ended_, runs_);
  device_guard guard;
  for (const gpu& g : machine_.gpus) {
    if (!g.reached || (g.driven && !r.launched[static_cast<std::size_t>(g.pe)])) continue;
    const gpu& by = g.driven ? g : machine_.driven().front();
    ignore(guard.select(by.id));
    ignore(cudaMemcpyAsync(r.on->words().abort.on(g.pe), one_.data(), sizeof(std::uint64_t), cudaMemcpyDefault,
                           by.service.get()));
    ends_sent_ = true;
  }
}

// Before the words are cleared again.
void program_runner::await_ends_sent() {
  if (!ends_sent_) return;
  device_guard guard;
  for (const gpu& g : machine_.driven()) {
    ignore(guard.select(g.id));
    ignore(cudaStreamSynchronize(g.service.get()));
  }
  ends_sent_ = false;
}

void program_runner::throw_outcome(const std::vector<running>& all) const {
  if (failure_ != cudaSuccess) throw_cuda_error(failure_, "machine::run", failed_pe_);
  for (const running& r : all) throw_first_cause(r.reports, *r.what, machine_.n_pes(), r.deadline);
  // Blocks have left waits, so one had a cause: its report was overwritten by another thread of its block.
  for (const running& r : all) {
    if (r.reports.empty()) continue;
    std::vector<std::string> names;
    for (int i = 0; i < r.roles.count; ++i) names.push_back(r.what->roles.name(i));
    throw stall_error(r.reports, names, r.deadline);
  }
}

}  // namespace starling::on_cuda
