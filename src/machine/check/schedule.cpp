#include "schedule.hpp"

#include <algorithm>
#include <atomic>

#include "../awaited_words.hpp"

namespace starling::check {
namespace {

// More calls than any sensible test makes in one run; a loop that never ends makes more.
constexpr std::uint64_t most_calls = 20'000'000;
// Blocks that only poll signals get the others going after so many polls.
constexpr unsigned most_polls = 16;

// Work of streams is closures that must find the schedule they run in.
constinit thread_local schedule* current_schedule = nullptr;

}  // namespace

schedule::schedule(workload& w, shadow& memory, access_marks& marks, const host_ranges& touched)
    : work_(w),
      memory_(memory),
      marks_(marks),
      sync_(memory, snapshots_),
      network_(memory, sync_, snapshots_),
      touched_(touched) {
  if (w.clock == nullptr)
    cards_.set(w.cards);
  else
    network_.set_clock(&clock_.emplace(*w.clock));
}

std::optional<finding> schedule::execute(std::uint64_t seed, const std::optional<conflict>& watched) {
  random_ = random(seed);
  canonical_ = seed == 0;
  constexpr unsigned chances[] = {256, 200, 128, 64, 16, 0};
  delivery_chance_ = canonical_ ? 256 : chances[random_.below(std::size(chances))];
  by_priority_ = !canonical_ && random_.chance(128);
  network_.set_style(!canonical_ && random_.chance(192));
  lane_style_ = canonical_ ? 0 : static_cast<unsigned>(random_.below(4));
  draw_threads(seed);
  asked_for_warp_.reset();
  written_alike = 0;

  memory_.reset();
  snapshots_.reset();
  sync_.reset();
  network_.reset();
  cards_.reset(canonical_);
  card_turn_ = false;
  collectives_.reset(work_.n_programs, work_.n_pes);
  for (line* l : marks_.touched) l->read = l->written = 0;  // of blocks that were ended
  marks_.touched.clear();
  marks_.problem = {};
  marks_.seen.clear();
  marks_.loop = marks_.element = 0;
  marks_.watch(watched ? watched->address : 0, watched ? watched->address + watched->bytes : 0);
  marks_.end_uses(access_marks::any_block, any_context);
  over_ = false;
  found_.reset();
  thrown_ = nullptr;
  stream_ = nullptr;
  recorded_events_.clear();
  pending_.clear();
  calls_ = 0;
  loops_ = 0;
  polls_ = 0;
  value_waits_ = timed_waits_ = 0;
  spins_.reset();
  ready_.clear();
  for (scheduled_block& a : work_.scheduled) {
    a.reset(work_.scheduled.size(), static_cast<std::size_t>(work_.n_pes));
    a.priority = random_.next();
    a.begun = a.returned = false;
    if (a.now == scheduled_block::state::ready) ready_.push_back(&a);
  }
  if (clock_) clock_->reset(work_.scheduled.size(), work_.n_pes);

  if (scheduled_block* first = choose())
    fiber::switch_to(main_, *work_.fibers[static_cast<std::size_t>(first->number)]);
  // Kernels that are under way end, so that what lies on their stacks is destroyed.
  for (scheduled_block& a : work_.scheduled)
    if (over_ && a.begun && a.now != scheduled_block::state::finished)
      fiber::switch_to(main_, *work_.fibers[static_cast<std::size_t>(a.number)]);
  running_marks = nullptr;
  current_schedule = nullptr;
  if (thrown_) std::rethrow_exception(thrown_);
  return std::move(found_);
}

// The body of a fiber, once per schedule.
void schedule::run_one(scheduled_block& a) {
  try {
    if (over_) throw schedule_over{};
    a.begun = true;
    a.returned = false;
    resume(a);
    a.job();
    running_marks = nullptr;
    flush(a);
    check_stack_unused(a, stack_of(a));
    if (clock_) clock_->end(a);
    spins_.progress();
    if (a.what == scheduled_block::kind::launched) end_launched(a);
    a.returned = true;
  } catch (const schedule_over&) {
  } catch (...) {
    if (!thrown_) thrown_ = std::current_exception();
    over_ = true;
  }
  running_marks = nullptr;
  current_schedule = nullptr;
  a.now = scheduled_block::state::finished;
  std::erase(ready_, &a);
  scheduled_block* next = over_ ? nullptr : choose();
  if (next == nullptr && !over_ &&
      std::any_of(work_.scheduled.begin(), work_.scheduled.end(),
                  [](const scheduled_block& other) { return other.now != scheduled_block::state::finished; }))
    stuck();
  fiber& here = *work_.fibers[static_cast<std::size_t>(a.number)];
  fiber::switch_to(here, next != nullptr ? *work_.fibers[static_cast<std::size_t>(next->number)] : main_);
}

void fiber_loop(void* slot) {
  const auto& mine = *static_cast<fiber_slot*>(slot);
  while (true) mine.of->run_one(mine.of->work_.scheduled[mine.block]);
}

// ---- turns ----

void schedule::resume(scheduled_block& a) {
  if (a.what == scheduled_block::kind::stream) {
    stream_ = &a;
    current_schedule = this;
    return;
  }
  marks_.block = a.number;
  marks_.pe = a.pe;
  marks_.stamp = a.clock;
  marks_.running = &a;
  marks_.enter(a.scope);
  running_marks = &marks_;
}

void schedule::begin_call(scheduled_block& a, const call& c) {
  running_marks = nullptr;
  current_schedule = nullptr;
  if (over_) throw schedule_over{};
  // What a barrier does inside is not the user's; the barrier itself is noted.
  if (c.address == nullptr || work_.memory.is_users(reinterpret_cast<std::uintptr_t>(c.address))) a.note(c);
  flush(a);
  if (clock_) clock_->add_call(a, c);
  if (++calls_ > most_calls)
    fail({defect::endless,
          message("more than ", most_calls, " calls; last by PE ", a.pe, " block ", a.block,
                  ": a loop that nothing ends, or a run too long to check; use fewer steps"),
          {a.number}});
  if (spins_.call() && network_.idle() && cards_.settled())
    fail(spinning_finding(work_.scheduled, trying(), spins_, work_.memory));
  turn(a);
}

// Those whose calls change nothing: they are ready, or wait for a card to say so.
std::vector<scheduled_block*> schedule::trying() const {
  std::vector<scheduled_block*> all = ready_;
  for (scheduled_block& a : work_.scheduled)
    if (a.now == scheduled_block::state::waiting && a.awaited_event == &cards_) all.push_back(&a);
  return all;
}

// Lets the schedule go on elsewhere; returns when it is this block's turn.
void schedule::turn(scheduled_block& a) {
  running_marks = nullptr;
  scheduled_block* next = choose();
  if (next == nullptr && !over_) stuck();
  if (over_) throw schedule_over{};
  if (next != &a) {
    fiber::switch_to(*work_.fibers[static_cast<std::size_t>(a.number)],
                     *work_.fibers[static_cast<std::size_t>(next->number)]);
    if (over_) throw schedule_over{};
  }
}

// Until something makes the block ready.
void schedule::sleep(scheduled_block& a) {
  a.now = scheduled_block::state::waiting;
  std::erase(ready_, &a);
  turn(a);
}

void schedule::make_ready(scheduled_block& a) {
  if (a.now != scheduled_block::state::waiting) return;
  a.now = scheduled_block::state::ready;
  ready_.push_back(&a);
  if (clock_) clock_->wake(a);
}

scheduled_block* schedule::choose() {
  if (clock_) return choose_by_time();
  while (!over_) {
    if (value_waits_ > 0) wake_values();
    const bool cards_idle = cards_.idle();
    if (network_.idle() && cards_idle) {
      // Time passes when nothing else happens, or blocks only poll signals.
      const bool without_progress = ready_.empty() || polls_ > most_polls || spins_.without_progress() > most_polls;
      if (timed_waits_ > 0 && without_progress && (ready_.empty() || random_.chance(16))) (void)time_out();
      if (ready_.empty()) return nullptr;
      return &pick();
    }
    const unsigned chance = polls_ > most_polls ? 128 : delivery_chance_;
    if (!ready_.empty() && !random_.chance(chance)) return &pick();
    deliver(cards_idle);
  }
  return nullptr;
}

scheduled_block& schedule::pick() {
  if (canonical_ && polls_ <= most_polls) return *ready_.front();
  if (!by_priority_ || polls_ > most_polls) return *ready_[random_.below(ready_.size())];
  // Priorities that change now and then (probabilistic concurrency testing, Burckhardt et al. 2010).
  scheduled_block* best = ready_.front();
  for (scheduled_block* a : ready_)
    if (a->priority > best->priority) best = a;
  if (random_.chance(4)) best->priority = random_.next() >> 1;
  return *best;
}

void schedule::deliver(bool cards_idle) {
  if (cards_idle || (!network_.idle() && random_.chance(96))) return delivered(network_.deliver_one(random_));
  turn_of_card();
}

void schedule::turn_of_card() {
  card_turn_ = true;
  cards_.step();
  card_turn_ = false;
}

void schedule::turns_of_cards() {
  while (!canonical_ && random_.chance(128) && !cards_.idle()) turn_of_card();
}

void schedule::found_by_card(finding f) {
  if (!card_turn_) fail(std::move(f));
  note(std::move(f));
}

void schedule::wait_for_card(scheduled_block& a) {
  a.awaited_event = &cards_;
  sleep(a);
  a.awaited_event = nullptr;
}

void schedule::delivered(const network::delivery& d) {
  if (d.completed != nullptr && d.completed->in_quiet && d.completed->arrived(d.completed->quiet_of))
    make_ready(*d.completed);
  spins_.progress();
  if (d.released_by_data) polls_ = 0;
  if (d.raised == nullptr) return;
  const signal_update& s = d.raised->update;
  memory_.give_value(s.target, sizeof(signal));
  if (!d.valued && (s.op == signal_op::add || !s.orders)) {
    const scheduled_block& from = *d.raised->from;
    note({defect::uninitialised,
          message(block_text(from), " at ", s.at.file, ":", s.at.line, s.orders ? " adds to " : " puts a packet into ",
                  place_text(work_.memory, s.target),
                  ", which has no value: whoever waits for it may go on too early; fill it before the run "
                  "(machine::fill)"),
          {from.number}});
    return;
  }
  if (d.valued && s.op == signal_op::set && s.value < d.before) {
    const scheduled_block& from = *d.raised->from;
    note({defect::signal_back,
          message(place_text(work_.memory, s.target), " went back from ", d.before, " to ", s.value, ", set by ",
                  block_text(from), " at ", s.at.file, ":", s.at.line,
                  "; signals only grow: go on counting, or use another signal"),
          {from.number}});
    return;
  }
  polls_ = 0;
  wake(s.target);
}

namespace {

bool any_satisfied(const scheduled_block& a) {
  return std::any_of(a.awaited_by_threads.begin(), a.awaited_by_threads.end(),
                     [](const wait_request* w) { return satisfied(*w); });
}

bool in_wait(const scheduled_block& a) {
  return a.now == scheduled_block::state::waiting && !a.in_quiet && a.awaited_event == nullptr;
}

}  // namespace

// Those whose sync variables may be written in any way, as data too.
void schedule::wake_values() {
  for (scheduled_block& a : work_.scheduled)
    if (in_wait(a) && (satisfied(a.awaited) || any_satisfied(a))) make_ready(a);
}

// One of those whose waits have a time of their own has waited long enough.
bool schedule::time_out() {
  std::vector<scheduled_block*> some;
  for (scheduled_block& a : work_.scheduled)
    if (in_wait(a) && a.awaited.limit_ns != 0) some.push_back(&a);
  if (some.empty()) return false;
  scheduled_block& a = *some[random_.below(some.size())];
  a.timed_out = true;
  make_ready(a);
  return true;
}

void schedule::wake(const void* address) {
  for (scheduled_block& a : work_.scheduled)
    if (in_wait(a) && ((a.awaited.local == address && satisfied(a.awaited)) || any_satisfied(a))) make_ready(a);
}

void schedule::note(finding f) {
  if (!found_ && !thrown_) found_ = std::move(f);
  over_ = true;
}

void schedule::fail(finding f) {
  note(std::move(f));
  throw schedule_over{};
}

void schedule::stuck() {
  if (std::optional<finding> f = cards_.stuck()) return note(std::move(*f));
  note(stuck_finding(work_.scheduled, sync_, work_.memory));
}

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

byte_range schedule::stack_of(const scheduled_block& a) const {
  return work_.fibers[static_cast<std::size_t>(a.number)]->stack();
}

schedule* schedule::running() { return current_schedule; }

// ---- accesses ----

void schedule::flush(scheduled_block& a) {
  const access who{a.number, a.clock, false, false};
  conflict met;
  bool race = false;
  for (line* l : marks_.touched) {
    const std::uint64_t written = l->written;
    const std::uint64_t read = l->read & ~written;
    l->read = l->written = 0;
    if (clock_ && !work_.memory.scratch->covers(memory_.address_of(*l))) clock_->add_bytes(a, read | written);
    if (written != 0) spins_.progress();
    if (race) continue;
    if (read != 0) race = !memory_.enter(*l, read, who, false, a.happened_before, met);
    if (!race && written != 0) race = !memory_.enter(*l, written, who, true, a.happened_before, met);
    for (std::size_t i = 0; !race && l->sync_variables != 0 && i < sync_variables::slots; ++i) {
      const std::uint32_t w = sync_.find(*l, i * 4);
      if (w == 0 || sync_[w].by_data || ((read | written) & bits(i * 4, sync_[w].bytes)) == 0) continue;
      const releaser* other = sync_.unacquired(sync_[w], a);
      if (other == nullptr) continue;
      met = {
          {other->block, other->last_arrived, true, false}, true, who, written != 0, sync_[w].address, sync_[w].bytes};
      race = true;
    }
  }
  marks_.touched.clear();
  if (race) note({defect::unordered_read, "", {}, met});
  if (!race && marks_.problem.what != bad_access::kind::none)
    note({defect::out_of_bounds, "", {a.number}, {}, marks_.problem});
  if (over_) throw schedule_over{};
}

bool schedule::live(const void* address, std::size_t bytes, int pe) {
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address) - marks_.begin;
  if (at >= marks_.bytes || bytes > marks_.bytes - at) return false;
  const bool here = at / marks_.stride == static_cast<std::size_t>(pe) &&
                    at + bytes <= (static_cast<std::size_t>(pe) + 1) * marks_.stride;
  if (!here && at < marks_.symmetric_bytes) return false;
  bool all = true;
  memory_.over(address, bytes, [&](line& l, std::uint64_t mask) { all = all && (mask & ~l.live) == 0; });
  return all;
}

}  // namespace starling::check
