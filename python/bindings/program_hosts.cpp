#include "program_hosts.hpp"

#include <chrono>
#include <cstring>
#include <deque>
#include <thread>

#include "starling/base/environment.hpp"
#include "starling/machine/stall_error.hpp"

namespace starling::python {
namespace {

// Thrown in who waits for a PE that has failed; who called sees why that one has.
class given_up : public error {
 public:
  given_up() : error("another PE has failed") {}
};

}  // namespace

// One PE, as the host drives it.
class program_hosts::one final : public generated::host_pe {
 public:
  one(program_hosts& all, int pe, index_t signals)
      : host_pe(pe, all.machine_.size()),
        all_(all),
        stream_(all.machine_.new_stream(pe)),
        passed_{new_event(), new_event()},
        parts_(static_cast<std::size_t>(all.blocks_)) {
    for (index_t k = 0; k < signals; ++k) raised_.emplace_back(new_event());
  }

  void reset() {
    for (raised& r : raised_) r.value = 0;
    meetings_ = 0;
  }
  void synchronize() { stream_.synchronize(); }

  void signal_set(index_t sig, std::uint64_t value, int) override {
    raised& mine = raised_[static_cast<std::size_t>(sig)];
    if (by_events()) stream_.record(mine.at);
    mine.value.store(value, std::memory_order_release);
  }

  void wait(index_t sig, std::uint64_t value, int from, where at) override {
    const raised& theirs = all_.pes_[static_cast<std::size_t>(from)]->raised_[static_cast<std::size_t>(sig)];
    all_.await(pe(), from, operation::wait, at, [&] { return theirs.value.load(std::memory_order_acquire) >= value; });
    if (by_events()) stream_.wait(theirs.at);
  }

  void barrier_all(where at) override {
    const auto which = static_cast<std::size_t>(meetings_ % 2);
    if (by_events()) stream_.record(passed_[which]);
    all_.meet(pe(), ++meetings_, at);
    if (!by_events()) return;
    for (const auto& other : all_.pes_)
      if (other.get() != this) stream_.wait(other->passed_[which]);
  }

  void copy(const generated::strip_copy& c) override {
    const bool one_piece = c.rows == 1 || (c.to_pitch == c.bytes && c.from_pitch == c.bytes);
    if (one_piece)
      stream_.copy(c.to, c.from, c.bytes * c.rows);
    else
      stream_.copy_rows(c.to, c.to_pitch, c.from, c.from_pitch, c.bytes, c.rows);
    end_call();
  }

 private:
  event new_event() { return all_.machine_.new_event(stream_.pe(), event_use::ordering); }
  bool by_events() const { return all_.order_ == host_order::events; }
  void end_call() {
    if (!by_events()) stream_.synchronize();
  }

  int blocks() const override { return all_.blocks_; }

  void start(int phase, bool all, const void* data, std::size_t bytes) override {
    kernel k = all_.phases_[static_cast<std::size_t>(phase)];
    auto own = std::make_shared<std::vector<std::uint64_t>>((bytes + 7) / 8);
    std::memcpy(own->data(), data, bytes);
    k.closure = std::shared_ptr<const void>(own, own->data());
    k.closure_bytes = bytes;
    stream_.launch_kernel(all ? all_.blocks_ : 1, k, all_.options_);
    end_call();
  }

  void read(void* to, const void* from, std::size_t bytes) override {
    stream_.copy(to, from, bytes);
    stream_.synchronize();
  }
  void write(void* to, const void* from, std::size_t bytes) override { read(to, from, bytes); }

  const generated::slot* parts(const generated::slot* from) override {
    read(parts_.data(), from, parts_.size() * sizeof(generated::slot));
    return parts_.data();
  }

  // Two sets: who still reads one cannot be overtaken by two meetings.
  const generated::slot* gather(const generated::slot& mine, where at) override {
    std::vector<generated::slot>& set = all_.given_[meetings_ % 2];
    set[static_cast<std::size_t>(pe())] = mine;
    all_.meet(pe(), ++meetings_, at);
    return set.data();
  }

  void refuse(int other, where at) const override {
    throw range_error(message(at.file, ":", at.line, ": PE ", other, " is named by PE ", pe(),
                              "; this machine has PEs 0 to ", n_pes() - 1));
  }

  program_hosts& all_;
  stream stream_;
  std::deque<raised> raised_;  // by signal
  event passed_[2];            // of barriers, in turn
  std::vector<generated::slot> parts_;
  std::uint64_t meetings_ = 0;
};

program_hosts::program_hosts(machine m, std::vector<kernel> phases, entry program, host_order order, host_threads by,
                             int blocks, int threads, index_t signals)
    : machine_(std::move(m)),
      phases_(std::move(phases)),
      program_(program),
      order_(order),
      by_(by),
      blocks_(blocks),
      slots_(machine_.allocate<generated::slot>(blocks)) {
  options_.threads = threads;
  for (auto& set : given_) set.resize(static_cast<std::size_t>(machine_.size()));
  for (int pe = 0; pe < machine_.size(); ++pe) pes_.push_back(std::make_unique<one>(*this, pe, signals));
}

program_hosts::~program_hosts() = default;

void program_hosts::run(const void* data, double deadline) {
  options_.deadline = deadline;
  deadline_ = deadline > 0 ? deadline : environment::read().deadline;
  arrived_ = 0;
  failed_ = false;
  failure_ = nullptr;
  for (const auto& pe : pes_) pe->reset();
  std::vector<std::function<void()>> works;
  for (const auto& pe : pes_) works.emplace_back([this, &pe, data] { run_one(*pe, data); });
  if (by_ == host_threads::one) {
    fibers_.run(works);
  } else {
    std::vector<std::thread> threads(works.begin(), works.end());
    for (std::thread& t : threads) t.join();
  }
  if (failure_) std::rethrow_exception(failure_);
}

void program_hosts::run_one(one& pe, const void* data) {
  const auto attempted = [&](const auto& work) {
    try {
      work();
    } catch (const given_up&) {
    } catch (...) {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
  };
  attempted([&] { program_(data, pe); });
  // Also after a failure: nothing is under way any more when the caller learns of it.
  attempted([&] { pe.synchronize(); });
}

template <class Done>
void program_hosts::await(int pe, int other, operation op, where at, const Done& done) {
  using clock = std::chrono::steady_clock;
  constexpr int looks = 64;  // between looks at the clock
  clock::time_point end{};
  for (int k = 0; !done(); ++k) {
    if (failed_) throw given_up();
    if (by_ == host_threads::one)
      fibers_.pass();
    else
      std::this_thread::yield();
    if (k % looks != 0) continue;
    const auto now = clock::now();
    if (k == 0) end = now + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(deadline_));
    if (now < end) continue;
    block_report late;
    late.pe = pe;
    late.state = block_state::expired;
    late.op = op;
    late.peer = other;
    set_place(late, at);
    throw stall_error({late}, {"host"}, deadline_);
  }
}

void program_hosts::meet(int pe, std::uint64_t times, where at) {
  const std::uint64_t wanted = times * pes_.size();
  arrived_.fetch_add(1, std::memory_order_acq_rel);
  await(pe, any_pe, operation::sync_all, at, [&] { return arrived_.load(std::memory_order_acquire) >= wanted; });
}

}  // namespace starling::python
