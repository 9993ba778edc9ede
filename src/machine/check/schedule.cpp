#include "schedule.hpp"

#include <algorithm>
#include <atomic>

namespace starling::check {
namespace {

// More calls than any sensible test makes in one run; a loop that never ends makes more.
constexpr std::uint64_t most_calls = 20'000'000;
// Blocks that only look at signals get the others going after so many looks.
constexpr unsigned most_polls = 16;

// Work of streams is closures that must find the schedule they run in.
constinit thread_local schedule* current_schedule = nullptr;

}  // namespace

schedule::schedule(workload& w, shadow& memory, access_marks& marks)
    : work_(w), memory_(memory), marks_(marks), words_(memory, snapshots_), network_(memory, words_, snapshots_) {}

std::optional<finding> schedule::execute(std::uint64_t seed, const std::optional<conflict>& watched) {
  random_ = random(seed);
  canonical_ = seed == 0;
  constexpr unsigned chances[] = {256, 200, 128, 64, 16, 0};
  delivery_chance_ = canonical_ ? 256 : chances[random_.below(std::size(chances))];
  by_priority_ = !canonical_ && random_.chance(128);
  network_.set_style(!canonical_ && random_.chance(192));
  lane_style_ = canonical_ ? 0 : static_cast<unsigned>(random_.below(4));

  memory_.reset();
  snapshots_.reset();
  words_.reset();
  network_.reset();
  collectives_.reset(work_.n_programs, work_.n_pes);
  for (line* l : marks_.touched) l->read = l->written = 0;  // of blocks that were ended
  marks_.touched.clear();
  marks_.problem = {};
  marks_.seen.clear();
  marks_.watch_begin = watched ? watched->address : 0;
  marks_.watch_end = watched ? watched->address + watched->bytes : 0;
  over_ = false;
  found_.reset();
  thrown_ = nullptr;
  stream_ = nullptr;
  points_.clear();
  calls_ = 0;
  polls_ = 0;
  ready_.clear();
  for (actor& a : work_.actors) {
    a.reset(work_.actors.size(), static_cast<std::size_t>(work_.n_pes));
    a.priority = random_.next();
    a.begun = a.returned = false;
    if (a.now == actor::state::ready) ready_.push_back(&a);
  }

  if (actor* first = choose()) fiber::switch_to(main_, *work_.fibers[static_cast<std::size_t>(first->number)]);
  // Kernels that are under way end, so that what lies on their stacks is destroyed.
  for (actor& a : work_.actors)
    if (over_ && a.begun && a.now != actor::state::finished)
      fiber::switch_to(main_, *work_.fibers[static_cast<std::size_t>(a.number)]);
  running_marks = nullptr;
  current_schedule = nullptr;
  if (thrown_) std::rethrow_exception(thrown_);
  return std::move(found_);
}

// The body of a fiber, once per schedule.
void schedule::run_one(actor& a) {
  try {
    if (over_) throw schedule_over{};
    a.begun = true;
    a.returned = false;
    resume(a);
    a.job();
    running_marks = nullptr;
    flush(a);
    if (a.what == actor::kind::launched) end_launched(a);
    a.returned = true;
  } catch (const schedule_over&) {
  } catch (...) {
    if (!thrown_) thrown_ = std::current_exception();
    over_ = true;
  }
  running_marks = nullptr;
  current_schedule = nullptr;
  a.now = actor::state::finished;
  std::erase(ready_, &a);
  actor* next = over_ ? nullptr : choose();
  if (next == nullptr && !over_ && std::any_of(work_.actors.begin(), work_.actors.end(), [](const actor& other) {
        return other.now != actor::state::finished;
      }))
    stuck();
  fiber& here = *work_.fibers[static_cast<std::size_t>(a.number)];
  fiber::switch_to(here, next != nullptr ? *work_.fibers[static_cast<std::size_t>(next->number)] : main_);
}

void fiber_loop(void* slot) {
  const auto& mine = *static_cast<fiber_slot*>(slot);
  while (true) mine.of->run_one(mine.of->work_.actors[mine.block]);
}

// ---- turns ----

void schedule::resume(actor& a) {
  if (a.what == actor::kind::stream) {
    stream_ = &a;
    current_schedule = this;
    return;
  }
  marks_.block = a.number;
  marks_.pe = a.pe;
  marks_.stamp = a.clock;
  const std::size_t own = static_cast<std::size_t>(a.pe) * marks_.stride;
  marks_.own_begin = marks_.begin + own;
  marks_.own_lines = marks_.lines + own / 64;
  marks_.own_bytes = marks_.watch_end != 0 ? 0 : marks_.stride;
  running_marks = &marks_;
}

void schedule::begin_call(actor& a, const call& c) {
  running_marks = nullptr;
  current_schedule = nullptr;
  if (over_) throw schedule_over{};
  // What a barrier does inside is not the user's; the barrier itself is noted.
  if (c.address == nullptr ||
      work_.memory.offset_of(reinterpret_cast<std::uintptr_t>(c.address)) < work_.memory.user_bytes)
    a.note(c);
  flush(a);
  if (++calls_ > most_calls)
    fail({defect::endless,
          message("more than ", most_calls, " calls; last by PE ", a.pe, " block ", a.block,
                  ": a loop that nothing ends, or a run too long to check; use fewer steps"),
          {a.number},
          {},
          {}});
  turn(a);
}

// Lets the schedule go on elsewhere; returns when it is this block's turn.
void schedule::turn(actor& a) {
  running_marks = nullptr;
  actor* next = choose();
  if (next == nullptr && !over_) stuck();
  if (over_) throw schedule_over{};
  if (next != &a) {
    fiber::switch_to(*work_.fibers[static_cast<std::size_t>(a.number)],
                     *work_.fibers[static_cast<std::size_t>(next->number)]);
    if (over_) throw schedule_over{};
  }
}

// Until something makes the block ready.
void schedule::sleep(actor& a) {
  a.now = actor::state::waiting;
  std::erase(ready_, &a);
  turn(a);
}

void schedule::make_ready(actor& a) {
  if (a.now != actor::state::waiting) return;
  a.now = actor::state::ready;
  ready_.push_back(&a);
}

actor* schedule::choose() {
  while (!over_) {
    if (network_.idle()) {
      if (ready_.empty()) return nullptr;
      return &pick();
    }
    const unsigned chance = polls_ > most_polls ? 128 : delivery_chance_;
    if (!ready_.empty() && !random_.chance(chance)) return &pick();
    deliver();
  }
  return nullptr;
}

actor& schedule::pick() {
  if (canonical_ && polls_ <= most_polls) return *ready_.front();
  if (!by_priority_ || polls_ > most_polls) return *ready_[random_.below(ready_.size())];
  // Priorities that change now and then (probabilistic concurrency testing, Burckhardt et al. 2010).
  actor* best = ready_.front();
  for (actor* a : ready_)
    if (a->priority > best->priority) best = a;
  if (random_.chance(4)) best->priority = random_.next() >> 1;
  return *best;
}

void schedule::deliver() {
  const network::delivery d = network_.deliver_one(random_);
  if (d.completed != nullptr && d.completed->in_quiet && d.completed->on_their_way == 0) make_ready(*d.completed);
  if (d.raised == nullptr) return;
  const signal_update& s = d.raised->update;
  memory_.over(s.target, sizeof(signal), [](line& l, std::uint64_t mask) { l.initialised |= mask; });
  if (s.op == signal_op::set && s.value < d.before) {
    const actor& from = *d.raised->from;
    note({defect::signal_back,
          message(place_text(work_.memory, s.target), " went back from ", d.before, " to ", s.value, ", set by ",
                  block_text(from), " at ", s.at.file, ":", s.at.line,
                  "; signals only grow: go on counting, or use another signal"),
          {from.number},
          {},
          {}});
    return;
  }
  polls_ = 0;
  wake(s.target);
}

void schedule::wake(const void* address) {
  for (actor& a : work_.actors)
    if (a.now == actor::state::waiting && !a.in_quiet && a.point == nullptr && a.awaited.local == address &&
        holds(a.awaited.local->value, a.awaited.how, a.awaited.wanted))
      make_ready(a);
}

void schedule::note(finding f) {
  if (!found_ && !thrown_) found_ = std::move(f);
  over_ = true;
}

void schedule::fail(finding f) {
  note(std::move(f));
  throw schedule_over{};
}

void schedule::stuck() { note(stuck_finding(work_.actors, words_, work_.memory)); }

lane_order schedule::order_of_lanes() {
  switch (lane_style_) {
    case 1:
      return {1, true};
    case 2:
      return {32, false};
    case 3:
      return {static_cast<int>(1 + random_.below(8)), random_.chance(128)};
    default:
      return {1, false};
  }
}

schedule* schedule::running() { return current_schedule; }

// ---- accesses ----

void schedule::flush(actor& a) {
  const access who{a.number, a.clock, false, false};
  conflict met;
  bool clash = false;
  for (line* l : marks_.touched) {
    const std::uint64_t written = l->written;
    const std::uint64_t read = l->read & ~written;
    l->read = l->written = 0;
    if (clash) continue;
    if (read != 0) clash = !memory_.enter(*l, read, who, false, a.known, met);
    if (!clash && written != 0) clash = !memory_.enter(*l, written, who, true, a.known, met);
    for (std::size_t i = 0; !clash && l->words != 0 && i < 8; ++i) {
      const std::uint32_t w = words_.find(*l, i * 8);
      if (w == 0 || ((read | written) & bits(i * 8, 8)) == 0) continue;
      const told* other = words_.unknown(words_[w], a);
      if (other == nullptr) continue;
      met = {
          {other->block, other->last_arrived, true, false}, true, who, written != 0, words_[w].address, sizeof(signal)};
      clash = true;
    }
  }
  marks_.touched.clear();
  if (clash) note({defect::unordered_read, "", {}, met, {}});
  if (!clash && marks_.problem.what != bad_access::kind::none)
    note({defect::out_of_bounds, "", {a.number}, {}, marks_.problem});
  if (over_) throw schedule_over{};
}

bool schedule::live(const void* address, std::size_t bytes, int pe) {
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address) - marks_.begin;
  if (at >= marks_.bytes || at / marks_.stride != static_cast<std::size_t>(pe)) return false;
  if (at + bytes > (static_cast<std::size_t>(pe) + 1) * marks_.stride) return false;
  bool all = true;
  memory_.over(address, bytes, [&](line& l, std::uint64_t mask) { all = all && (mask & ~l.live) == 0; });
  return all;
}

// Enters what a transfer does at one of its ends.
void schedule::enter(actor& a, const void* start, const transfer& t, bool dest, const access& who, bool write,
                     const knowledge& known) {
  if (!memory_.covers(start) || t.count <= 0) return;
  conflict met;
  bool clash = false;
  const auto range = [&](const void* from, std::size_t bytes) {
    memory_.over(from, bytes, [&](line& l, std::uint64_t mask) {
      if (!clash) clash = !memory_.enter(l, mask, who, write, known, met);
    });
  };
  const index_t stride = dest ? t.dest_stride : t.source_stride;
  if (stride == 1) {
    range(start, static_cast<std::size_t>(t.count) * t.element);
  } else {
    for (index_t i = 0; i < t.count; ++i)
      range(static_cast<const std::byte*>(start) + i * stride * static_cast<index_t>(t.element), t.element);
  }
  if (clash) fail({defect::unordered_write, "", {a.number}, met, {}});
}

// What a put of the block to `pe` comes after: all that the block knows, and its own operations that were fenced.
const knowledge& schedule::known_to_put(actor& a, int pe) {
  const operation_set& fenced = a.lanes[static_cast<std::size_t>(pe)].fenced;
  if (fenced.empty()) return a.known;
  with_fenced_ = a.known;
  with_fenced_.complete(static_cast<std::size_t>(a.number), fenced);
  return with_fenced_;
}

release schedule::release_of(actor& a, int pe, bool orders) {
  if (a.released == nullptr) a.released = snapshots_.take(a.known);
  ++a.released->users;
  release r{a.released, a.clock, {}, orders};
  if (orders) r.fenced = a.lanes[static_cast<std::size_t>(pe)].fenced;
  ++a.clock;
  return r;
}

// ---- operations ----

void schedule::prepare_raise(actor& a, operation_on_its_way& op, const signal_update& s) {
  op.raises = true;
  op.update = s;
  op.word = words_.at(s.target);
  word& w = words_[op.word];
  if (s.op == signal_op::set) {
    const auto before = static_cast<std::size_t>(w.setter);
    if (w.setter >= 0 && w.setter != a.number && !a.known.arrived[before].contains(w.set_number)) {
      const actor& other = work_.actors[before];
      const where at = other.operations[w.set_number].at;
      fail({defect::two_writers,
            message(place_text(work_.memory, s.target), " is set by ", block_text(other), " at ", at.file, ":", at.line,
                    " and by ", block_text(a), " at ", s.at.file, ":", s.at.line,
                    ", and nothing orders the two; give each sender a signal of its own"),
            {other.number, a.number},
            {},
            {}});
    }
    if (s.value != 0 && (s.target->value == s.value || (w.setter == a.number && w.set_value == s.value)))
      a.same_again = {s.at, s.target, s.value};
    w.set_value = s.value;
    w.setter = a.number;
    w.set_number = op.number;
  }
  told& mine = w.of(a.number);
  op.after = mine.last_issued;
  mine.last_issued = op.number + 1;
  op.covers = release_of(a, s.pe, s.orders);
}

// What the caller may change again is copied; bytes without a value travel as such.
void schedule::keep_source(actor& a, operation_on_its_way& op) {
  transfer& t = op.move;
  if (t.count <= 0) return;
  const auto element = static_cast<index_t>(t.element);
  const auto bytes = static_cast<std::size_t>(t.count * element);
  const access by_block{a.number, a.clock, false, false};
  const access by_operation{a.number, op.number, true, false};
  enter(a, t.source, t, false, t.blocking ? by_block : by_operation, false, a.known);
  if (memory_.covers(t.source)) {
    bool whole = true;
    for (index_t i = 0; i < t.count && whole; i += t.source_stride == 1 ? t.count : 1)
      memory_.over(static_cast<const std::byte*>(t.source) + i * t.source_stride * element,
                   t.source_stride == 1 ? bytes : t.element,
                   [&](line& l, std::uint64_t mask) { whole = whole && (mask & ~l.initialised) == 0; });
    if (!whole) {
      op.lacking.assign(bytes, false);
      for (index_t i = 0; i < t.count * element; ++i)
        memory_.over(static_cast<const std::byte*>(t.source) + i / element * t.source_stride * element + i % element, 1,
                     [&](line& l, std::uint64_t mask) {
                       op.lacking[static_cast<std::size_t>(i)] = (mask & ~l.initialised) != 0;
                     });
    }
  }
  if (!t.blocking) return;
  op.staged.resize(bytes);
  for (index_t i = 0; i < t.count; i += t.source_stride == 1 ? t.count : 1)
    std::copy_n(static_cast<const std::byte*>(t.source) + i * t.source_stride * element,
                t.source_stride == 1 ? bytes : t.element, op.staged.begin() + i * element);
  t.source = op.staged.data();
  t.source_stride = 1;
}

void schedule::put(actor& a, const transfer& t, const signal_update* s) {
  operation_on_its_way& op = network_.issue(a, t.pe,
                                            s != nullptr ? "put_signal"
                                            : t.blocking ? "put"
                                                         : "put_nbi",
                                            t.at, t.blocking);
  op.move = t;
  enter(a, t.dest, t, true, {a.number, op.number, true, false}, true, known_to_put(a, t.pe));
  keep_source(a, op);
  if (s != nullptr) prepare_raise(a, op, *s);
  network_.send(op, random_);
  resume(a);
}

void schedule::get(actor& a, const transfer& t) {
  const bool now = t.blocking;
  operation_on_its_way* op = now ? nullptr : &network_.issue(a, t.pe, "get_nbi", t.at, false);
  const access who = now ? access{a.number, a.clock, false, false} : access{a.number, op->number, true, false};
  enter(a, t.source, t, false, who, false, known_to_put(a, t.pe));
  enter(a, t.dest, t, true, who, true, a.known);
  if (!now) {
    op->move = t;
    network_.send(*op, random_);
    resume(a);
    return;
  }
  // A get that is waited for is one copy: nobody else runs meanwhile.
  operation_on_its_way& copy = network_.issue(a, t.pe, "get", t.at, true);
  copy.move = t;
  network_.carry_out(copy);
  operation_set one;
  one.insert(copy.number);
  a.known.complete(static_cast<std::size_t>(a.number), one);
  resume(a);
}

void schedule::update(actor& a, const signal_update& s) {
  operation_on_its_way& op = network_.issue(a, s.pe, "signal", s.at, true);
  prepare_raise(a, op, s);
  network_.send(op, random_);
  resume(a);
}

void schedule::wait(actor& a, const wait_request& w) {
  const std::uint32_t number = words_.at(w.local);
  words_[number].awaited = true;
  bool valued = true;
  memory_.over(w.local, sizeof(signal),
               [&](line& l, std::uint64_t mask) { valued = valued && (mask & ~l.initialised) == 0; });
  if (!valued && !words_[number].raised)
    fail({defect::uninitialised,
          message(block_text(a), " waits at ", w.at.file, ":", w.at.line, " for ", place_text(work_.memory, w.local),
                  ", which has no value; set signals to 0 with machine::fill before the run"),
          {a.number},
          {},
          {}});
  a.awaited = w;
  if (!words_[number].raised && w.wanted != 0 && holds(w.local->value, w.how, w.wanted))
    a.passed_early = {w.at, w.local, w.local->value};
  while (!holds(w.local->value, w.how, w.wanted)) sleep(a);
  words_.learn(words_[number], a);
  polls_ = 0;
  resume(a);
}

bool schedule::test(actor& a, const wait_request& w) {
  const std::uint32_t number = words_.at(w.local);
  words_[number].awaited = true;
  const bool yes = holds(w.local->value, w.how, w.wanted);
  if (yes)
    words_.learn(words_[number], a);
  else
    ++polls_;
  resume(a);
  return yes;
}

void schedule::atomic(actor& a, void* address, std::size_t bytes, void (*apply)(void*), void* context) {
  conflict met;
  bool clash = false;
  memory_.over(address, bytes, [&](line& l, std::uint64_t mask) {
    if (!clash) clash = !memory_.enter(l, mask, {a.number, a.clock, false, true}, true, a.known, met);
    l.initialised |= mask;
  });
  if (clash) fail({defect::unordered_write, "", {a.number}, met, {}});
  apply(context);
  ++polls_;
  wake(address);
  resume(a);
}

void schedule::fence(actor& a) {
  for (lane& l : a.lanes) {
    if (l.unfenced.empty()) continue;
    for (const std::uint32_t n : l.unfenced) l.fenced.insert(n);
    l.unfenced.clear();
    ++l.epoch;
    l.outstanding.push_back(0);
    while (l.oldest < l.epoch && l.outstanding[l.oldest] == 0) ++l.oldest;
  }
  resume(a);
}

void schedule::quiet(actor& a) {
  a.in_quiet = true;
  while (a.on_their_way > 0) sleep(a);
  a.in_quiet = false;
  operation_set all;
  all.insert_below(static_cast<std::uint32_t>(a.operations.size()));
  a.known.complete(static_cast<std::size_t>(a.number), all);
  for (lane& l : a.lanes) {
    l.unfenced.clear();
    l.fenced.clear();
  }
  snapshots_.drop(a.released);
  a.released = nullptr;
  resume(a);
}

void schedule::collective(actor& a, const collective_call& c) {
  const std::string problem = collectives_.enter(a, c);
  if (!problem.empty()) fail({defect::collective, problem, {a.number}, {}, {}});
  resume(a);
}

}  // namespace starling::check
