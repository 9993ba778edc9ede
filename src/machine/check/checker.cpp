#include "checker.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>

#include "../launch_rules.hpp"
#include "scheduled_port.hpp"

namespace starling::check {

// The bytes of all allocations, on every PE.
class checker::memory_image {
 public:
  explicit memory_image(const std::vector<symmetric_heap*>& heaps) {
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

// What the blocks of an exploration are made of.
struct checker::blocks {
  workload work;
  std::vector<const program*> programs;
  std::vector<program_state> states;  // by program, then PE
  std::function<void(actor&)> run;
};

checker::checker(symmetric_heap& heap, symmetric_heap& control, const check_options& options, std::string report_path)
    : heap_(heap),
      control_(control),
      options_(options),
      report_path_(std::move(report_path)),
      shadow_(reinterpret_cast<std::uintptr_t>(heap.where().start),
              static_cast<std::size_t>(heap.where().stride) * static_cast<std::size_t>(heap.where().n_pes)) {
  marks_.begin = reinterpret_cast<std::uintptr_t>(heap.where().start);
  marks_.stride = static_cast<std::size_t>(heap.where().stride);
  marks_.bytes = marks_.stride * static_cast<std::size_t>(heap.where().n_pes);
  marks_.lines = shadow_.lines();
}

checker::~checker() = default;

void checker::fill_with_poison(std::byte* start, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof poison) std::memcpy(start + i, &poison, std::min(sizeof poison, bytes - i));
}

void checker::prepare(blocks& b, const std::vector<checked_program>& programs) {
  const int n_pes = heap_.where().n_pes;
  workload& w = b.work;
  w.n_pes = n_pes;
  w.n_programs = static_cast<int>(programs.size());
  w.memory.begin = marks_.begin;
  w.memory.stride = marks_.stride;
  w.memory.user_bytes = heap_.where().capacity;
  for (const auto& [offset, bytes] : heap_.live()) w.memory.allocations.push_back({offset, bytes});
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const program& what = *programs[p].what;
    b.programs.push_back(&what);
    summary_.accesses_seen = summary_.accesses_seen && what.k.accesses_seen;
    program_state s;
    s.n_pes = n_pes;
    s.roles = what.roles.resolve();
    s.n_blocks = s.roles.first[s.roles.count];
    s.control = programs[p].control;
    s.heap = {heap_.where().start, heap_.where().stride};
    s.scratch_bytes = static_cast<std::uint32_t>(what.options.scratch_bytes);
    for (int pe = 0; pe < n_pes; ++pe) {
      s.pe = pe;
      b.states.push_back(s);
      for (int i = 0; i < s.n_blocks; ++i) {
        actor a;
        a.number = static_cast<int>(w.actors.size());
        a.program = static_cast<int>(p);
        a.pe = pe;
        a.block = i;
        a.role = s.roles.role_of(i);
        a.role_name = what.roles.name(a.role);
        w.actors.push_back(std::move(a));
      }
    }
  }
  while (fibers_.size() < w.actors.size()) {
    slots_.push_back(std::make_unique<fiber_slot>());
    slots_.back()->block = fibers_.size();
    fibers_.push_back(std::make_unique<fiber>(&fiber_loop, slots_.back().get()));
  }
  for (std::size_t i = 0; i < w.actors.size(); ++i) w.fibers.push_back(fibers_[i].get());
}

void checker::open_memory() {
  for (const symmetric_heap* h : {&heap_, &control_})
    for (const auto& [offset, bytes] : h->live())
      for (int pe = 0; pe < h->where().n_pes; ++pe) shadow_.open(h->on(offset, pe), bytes, poison);
}

void checker::run(const std::vector<checked_program>& programs) {
  const std::lock_guard lock(mutex_);
  const auto start = std::chrono::steady_clock::now();
  blocks b;
  prepare(b, programs);
  open_memory();
  struct closing {
    shadow& memory;
    ~closing() { memory.close(); }
  } at_end{shadow_};
  schedule s(b.work, shadow_, marks_);
  for (const auto& slot : slots_) slot->of = &s;
  b.run = [&](actor& a) {
    const program& p = *b.programs[static_cast<std::size_t>(a.program)];
    const auto state = static_cast<std::size_t>(a.program * b.work.n_pes + a.pe);
    scheduled_port port(s, a, p.options.scratch_bytes);
    block view(b.states[state], &port, a.block);
    p.k.on_host(p.k.closure.get(), view);
  };
  const memory_image before({&heap_, &control_});
  ++summary_.programs;
  try {
    for (std::uint64_t i = 0; i < options_.seeds; ++i) one(s, b, options_.first_seed + i, before);
    one(s, b, 0, before);
  } catch (const check_error& e) {
    summary_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    add_to_report(&e);
    throw;
  }
  summary_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_to_report(nullptr);
}

void checker::one(schedule& s, blocks& b, std::uint64_t seed, const memory_image& before) {
  before.restore();
  ++summary_.schedules;
  std::optional<finding> f;
  try {
    f = s.execute(seed, b.run, std::nullopt);
  } catch (...) {
    before.restore();
    throw;
  }
  summary_.calls += s.calls();
  summary_.deliveries += s.deliveries();
  if (f) report(s, b, seed, std::move(*f), before);
}

void checker::report(schedule& s, blocks& b, std::uint64_t seed, finding f, const memory_image& before) {
  if (f.clash) {
    before.restore();
    const conflict watched = *f.clash;
    if (auto again = s.execute(seed, b.run, watched)) f = std::move(*again);
    if (f.clash) describe_clash(f, b.work.actors, b.work.memory, marks_.seen);
  }
  if (f.access) describe_access(f, b.work.actors, b.work.memory);
  before.restore();
  std::vector<block_history> histories;
  for (const int number : f.blocks) {
    const actor& a = b.work.actors[static_cast<std::size_t>(number)];
    histories.push_back({a.pe, a.block, a.role_name, history_text(b.work.memory, a)});
  }
  throw check_error(f.what, seed, f.text, std::move(histories));
}

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) >= 32)
      out += c;
  }
  return out + '"';
}

}  // namespace

// A line of JSON for each exploration, for who started the process.
void checker::add_to_report(const check_error* found) {
  if (report_path_.empty()) return;
  std::ofstream out(report_path_, std::ios::app);
  out << "{\"programs\":" << summary_.programs << ",\"schedules\":" << summary_.schedules
      << ",\"calls\":" << summary_.calls << ",\"deliveries\":" << summary_.deliveries
      << ",\"seconds\":" << summary_.seconds << ",\"accesses_seen\":" << (summary_.accesses_seen ? "true" : "false");
  if (found != nullptr)
    out << ",\"defect\":" << quoted(name(found->what_kind())) << ",\"seed\":" << found->seed()
        << ",\"text\":" << quoted(found->what());
  out << "}\n";
}

}  // namespace starling::check
