#include "checker.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>

#include "../json_text.hpp"

namespace starling::check {

// The bytes of all allocations, on every PE, and of the host's memory that streams touch.
class checker::memory_image {
 public:
  memory_image(const std::vector<symmetric_heap*>& heaps, const local_heap& local, const host_ranges& touched) {
    for (const host_range& r : touched) parts_.push_back({r.start, r.bytes, 0});
    for (const local_heap::allocation& a : local.live()) parts_.push_back({a.start, a.bytes, 0});
    for (symmetric_heap* h : heaps)
      for (const auto& [offset, bytes] : h->live())
        for (int pe = 0; pe < h->where().n_pes; ++pe) parts_.push_back({h->on(offset, pe), bytes, 0});
    std::size_t total = 0;
    for (part& p : parts_) {
      p.at = total;
      total += p.bytes;
    }
    bytes_.resize(total);
    for (const part& p : parts_) std::memcpy(bytes_.data() + p.at, p.start, p.bytes);
  }
  void restore() const {
    for (const part& p : parts_) std::memcpy(p.start, bytes_.data() + p.at, p.bytes);
  }

 private:
  struct part {
    std::byte* start;
    std::size_t bytes;
    std::size_t at;
  };
  std::vector<part> parts_;
  std::vector<std::byte> bytes_;
};

checker::checker(symmetric_heap& heap, symmetric_heap& control, const local_heap& local, const check_options& options,
                 std::string report_path, std::unique_ptr<card_setting> cards)
    : heap_(heap),
      control_(control),
      local_(local),
      options_(options),
      report_path_(std::move(report_path)),
      cards_(std::move(cards)),
      shadow_(reinterpret_cast<std::uintptr_t>(heap.where().start),
              static_cast<std::size_t>(local.start() + local.bytes() - heap.where().start) + scratch_area::all_bytes),
      scratch_(local.start() + local.bytes(), shadow_) {
  marks_.begin = reinterpret_cast<std::uintptr_t>(heap.where().start);
  marks_.stride = static_cast<std::size_t>(heap.where().stride);
  marks_.symmetric_bytes = marks_.stride * static_cast<std::size_t>(heap.where().n_pes);
  marks_.bytes = marks_.symmetric_bytes + local.bytes() + scratch_area::all_bytes;
  marks_.local = &local;
  marks_.scratch = &scratch_;
  marks_.lines = shadow_.lines();
}

checker::~checker() = default;

workload checker::new_workload() const {
  workload w;
  w.n_pes = heap_.where().n_pes;
  w.cards = cards_.get();
  w.threads = options_.threads;
  w.clock = options_.clock ? &*options_.clock : nullptr;
  w.memory.begin = marks_.begin;
  w.memory.stride = marks_.stride;
  w.memory.user_bytes = heap_.where().capacity;
  for (const auto& [offset, bytes] : heap_.live()) w.memory.allocations.push_back({offset, bytes});
  w.memory.local = &local_;
  w.memory.scratch = &scratch_;
  w.memory.bytes = marks_.bytes;
  w.memory.names = names_.now();
  return w;
}

scheduled_block& checker::add_block(workload& w, scheduled_block::kind what, int pe, int block) const {
  scheduled_block& a = w.scheduled.emplace_back();
  a.number = static_cast<int>(w.scheduled.size()) - 1;
  a.what = what;
  a.pe = pe;
  a.block = block;
  return a;
}

program_state checker::state_of(const program& p, int pe) const {
  program_state s;
  s.pe = pe;
  s.n_pes = heap_.where().n_pes;
  s.roles = p.roles.resolve();
  s.n_blocks = s.roles.first[s.roles.count];
  s.heap = {heap_.where().start, heap_.where().stride};
  s.heap_bytes = heap_.where().capacity;
  s.scratch_bytes = static_cast<std::uint32_t>(p.options.scratch_bytes);
  return s;
}

// On the block's fiber: block `index` of its launch.
void checker::run_block(scheduled_block& a, const program& p, const program_state& s, int index) {
  run_kernel(a, p, s, index, {p.k.on_host, p.k.closure, p.k.closure_bytes});
}

// The same of a kernel that a block has launched, which is like that of `p`.
void checker::run_kernel(scheduled_block& a, const program& p, const program_state& s, int index,
                         const kernel_launch& k) {
  const byte_range closure{reinterpret_cast<std::uintptr_t>(k.closure.get()), k.closure_bytes};
  scheduled_port port(*schedule_, a, scratch_, p.options.scratch_bytes, closure);
  const auto run_on = [&](host_port& of_thread) {
    block view(s, &of_thread, index);
    k.run(k.closure.get(), view);
  };
  const schedule::thread_counts threads = schedule_->threads_of(p.k);
  now_.threads_seen = std::max(now_.threads_seen, threads.of_block);
  if (threads.of_block == 1) return run_on(port);
  block_threads(*schedule_, a, port, thread_fibers_, threads.of_block, threads.of_warp).run(run_on);
}

void checker::open_memory() {
  for (const symmetric_heap* h : {&heap_, &control_})
    for (const auto& [offset, bytes] : h->live())
      for (int pe = 0; pe < h->where().n_pes; ++pe) shadow_.open(h->on(offset, pe), bytes);
  for (const local_heap::allocation& a : local_.live()) shadow_.open(a.start, a.bytes);
}

void checker::run(const std::vector<checked_program>& programs) {
  const std::lock_guard lock(mutex_);
  workload w = new_workload();
  w.n_programs = static_cast<int>(programs.size());
  w.run_launched = [&](scheduled_block& a, const kernel_launch& k) {
    const checked_program& of = programs[static_cast<std::size_t>(a.program)];
    program_state s = state_of(*of.what, a.pe);
    s.control = of.control;
    run_kernel(a, *of.what, s, a.block, k);
  };
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const program& what = *programs[p].what;
    const int launcher = programs[p].launched_by;
    note_kernel(what.k);
    w.most_pending.push_back(what.launches ? what.most_pending : 0);
    for (int pe = 0; pe < w.n_pes; ++pe) {
      program_state s = state_of(what, pe);
      s.control = programs[p].control;
      for (int i = 0; i < s.n_blocks; ++i) {
        scheduled_block& a =
            add_block(w, launcher >= 0 ? scheduled_block::kind::launched : scheduled_block::kind::block, pe, i);
        a.program = static_cast<int>(p);
        a.launched_from = launcher;
        a.role = s.roles.role_of(i);
        a.role_name = what.roles.name(a.role);
        if (launcher >= 0) continue;  // launches say what it runs
        a.job = [this, s, &what, number = static_cast<std::size_t>(a.number), &w] {
          scheduled_block& self = w.scheduled[number];
          run_block(self, what, s, self.block);
        };
      }
    }
  }
  explore(w);
}

void checker::run_streams(const std::vector<stream_work>& streams, int most_blocks, bool resident) {
  const std::lock_guard lock(mutex_);
  struct ending {
    std::vector<std::unique_ptr<program_control>>& words;
    ~ending() { words.clear(); }
  } at_end{meeting_words_};
  workload w = new_workload();
  for (const stream_work& s : streams) {
    scheduled_block& a = add_block(w, scheduled_block::kind::stream, s.pe, 0);
    a.role_name = "stream";
    const int number = a.number;
    a.job = [&s] {
      for (const auto& operation : s.operations) operation();
    };
    for (int i = 0; i < most_blocks; ++i) add_block(w, scheduled_block::kind::launched, s.pe, i).launched_from = number;
    if (!resident) continue;
    w.scheduled[static_cast<std::size_t>(number)].meeting = static_cast<int>(meeting_words_.size());
    const auto& words = meeting_words_.emplace_back(std::make_unique<program_control>(control_, 1));
    for (int pe = 0; pe < w.n_pes; ++pe) std::memset(control_.on(words->offset(), pe), 0, words->bytes());
  }
  host_ranges touched;
  for (const stream_work& st : streams) touched.insert(touched.end(), st.touched.begin(), st.touched.end());
  explore(w, touched);
}

void checker::launch(int pe, int blocks, const program& p) {
  note_kernel(p.k);
  program_state s = state_of(p, pe);
  if (p.options.resident) {
    // One launch of a stream at a time: nobody looks at the words that it is about to use.
    s.control.arrived = meeting_words_[static_cast<std::size_t>(schedule_->stream().meeting)]->words().arrived;
    s.control.arrived.on(pe)->value = 0;
  }
  schedule_->launch(blocks, p.options.resident, [&](scheduled_block& a, int index) { run_block(a, p, s, index); });
}

void checker::host_reads(const std::byte* source, std::size_t bytes, where at) const {
  // Words of memory that nobody has written hold the poison; where they are one for 4 bytes alone, they may be padding.
  const auto first = reinterpret_cast<std::uintptr_t>(source);
  const std::size_t skip = (sizeof poison - first % sizeof poison) % sizeof poison;
  const auto is_poison = [&](std::size_t i) { return std::memcmp(source + i, &poison, sizeof poison) == 0; };
  for (std::size_t begin = skip; begin + sizeof poison <= bytes; begin += sizeof poison) {
    std::size_t end = begin;
    while (end + sizeof poison <= bytes && is_poison(end)) end += sizeof poison;
    if (end - begin < (begin == 0 ? 1 : std::min(bytes, least_without_value))) continue;
    const memory_map m = new_workload().memory;
    throw check_error(defect::uninitialised, 0, host_reads_text(m, first + begin, end - begin, at), {});
  }
}

// Explores the options' seeds, then runs seed 0 to keep its results.
void checker::explore(workload& w, const host_ranges& touched) {
  const auto start = std::chrono::steady_clock::now();
  while (fibers_.size() < w.scheduled.size()) {
    slots_.push_back(std::make_unique<fiber_slot>());
    slots_.back()->block = fibers_.size();
    fibers_.push_back(std::make_unique<fiber>(&fiber_loop, slots_.back().get()));
  }
  for (std::size_t i = 0; i < w.scheduled.size(); ++i) w.fibers.push_back(fibers_[i].get());
  open_memory();
  schedule s(w, shadow_, marks_, touched);
  for (const auto& slot : slots_) slot->of = &s;
  schedule_ = &s;
  struct closing {
    checker& c;
    ~closing() {
      c.shadow_.close();
      c.schedule_ = nullptr;
    }
  } at_end{*this};
  const memory_image before({&heap_, &control_}, local_, touched);
  const auto close_account = [&](const check_error* found) {
    now_.programs = 1;
    now_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    add_to_report(now_, found);
    summary_.programs += now_.programs;
    summary_.schedules += now_.schedules;
    summary_.calls += now_.calls;
    summary_.deliveries += now_.deliveries;
    summary_.seconds += now_.seconds;
    summary_.simulated_ns += s.simulated_ns();
    summary_.accesses_seen = summary_.accesses_seen && now_.accesses_seen;
    summary_.threads_seen = std::max(summary_.threads_seen, now_.threads_seen);
    summary_.written_alike += now_.written_alike;
    now_ = {};
  };
  try {
    for (std::uint64_t i = 0; i < options_.seeds && !options_.clock; ++i) one(s, w, options_.first_seed + i, before);
    one(s, w, 0, before);
  } catch (const check_error& e) {
    close_account(&e);
    throw;
  } catch (...) {  // what a kernel threw
    close_account(nullptr);
    throw;
  }
  close_account(nullptr);
}

namespace {

// The bytes at which two accesses meet, if that is what was found.
std::optional<conflict> two_accesses(const finding& f) {
  if (f.race) return f.race;
  conflict at;
  if (f.threads) {
    at.address = f.threads->address;
    at.bytes = f.threads->bytes;
  } else if (f.elements) {
    at.address = f.elements->address;
    at.bytes = f.elements->bytes;
  } else {
    return std::nullopt;
  }
  return at;
}

}  // namespace

// One schedule from the memory as it was. Throws what it finds, or what a kernel threw, with memory set back.
void checker::one(schedule& s, workload& w, std::uint64_t seed, const memory_image& before) {
  before.restore();
  ++now_.schedules;
  try {
    std::optional<finding> f = s.execute(seed, std::nullopt);
    now_.calls += s.calls();
    now_.deliveries += s.deliveries();
    now_.written_alike += s.written_alike;
    if (!f) return;
    if (const std::optional<conflict> watched = two_accesses(*f)) {
      // The same again, to learn where the two accesses stand.
      before.restore();
      if (auto again = s.execute(seed, watched)) f = std::move(again);
    }
    throw_found(w, seed, std::move(*f));
  } catch (...) {
    before.restore();
    throw;
  }
}

void checker::throw_found(const workload& w, std::uint64_t seed, finding f) const {
  if (f.race) describe_race(f, w.scheduled, w.memory, marks_.seen);
  if (f.access) describe_access(f, w.scheduled, w.memory);
  if (f.threads) describe_threads(f, w.scheduled, w.memory, marks_.seen);
  if (f.elements) describe_elements(f, w.scheduled, w.memory, marks_.seen);
  std::vector<block_history> histories;
  for (const int number : f.blocks) {
    const scheduled_block& a = w.scheduled[static_cast<std::size_t>(number)];
    histories.push_back({a.pe, a.block, a.scope != nullptr ? a.scope->who() : a.role_name, history_text(w.memory, a)});
  }
  if (const auto& asked = schedule_->asked_for_warp())
    f.text += message("\n  blocks have ", asked->of_block, " threads, in warps of ", asked->of_warp);
  throw check_error(f.what, seed, f.text, std::move(histories), schedule_->threads_drawn());
}

// A line of JSON for each exploration, for who started the process.
void checker::add_to_report(const check_summary& c, const check_error* found) const {
  if (report_path_.empty()) return;
  std::ofstream out(report_path_, std::ios::app);
  out << "{\"programs\":" << c.programs << ",\"schedules\":" << c.schedules << ",\"calls\":" << c.calls
      << ",\"deliveries\":" << c.deliveries << ",\"seconds\":" << c.seconds
      << ",\"accesses_seen\":" << (c.accesses_seen ? "true" : "false") << ",\"threads_seen\":" << c.threads_seen
      << ",\"written_alike\":" << c.written_alike;
  if (found != nullptr)
    out << ",\"defect\":" << json_string(name(found->what_kind())) << ",\"seed\":" << found->seed()
        << ",\"text\":" << json_string(found->what());
  out << "}\n";
}

}  // namespace starling::check
