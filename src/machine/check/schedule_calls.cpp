// The part of a schedule that is the calls of blocks: puts, gets, signals, waits, fences.
#include <algorithm>
#include <cstring>

#include "../awaited_words.hpp"
#include "schedule.hpp"

namespace starling::check {
namespace {

// Whether calls alone change the sync variable: a signal, or the number of a packet.
bool is_of_signal(const wait_request& w) { return w.op == operation::wait || !is_wait(w.op); }

// Calls f(offset, bytes) for the runs of bytes that a transfer has at the end with this stride.
template <class F>
void each_run(const transfer& t, index_t stride, const F& f) {
  if (stride == 1) return f(index_t{0}, static_cast<std::size_t>(t.count) * t.element);
  for (index_t i = 0; i < t.count; ++i) f(i * stride * static_cast<index_t>(t.element), t.element);
}

}  // namespace

// Enters what a transfer does at one of its ends.
void schedule::enter(const void* start, const transfer& t, index_t stride, const access& who, bool write,
                     const happens_before& happened_before) {
  if (t.count <= 0) return;
  if (!memory_.covers(start)) {
    each_run(t, stride, [&](index_t at, std::size_t bytes) {
      enter_near(reinterpret_cast<std::uintptr_t>(start) + static_cast<std::uintptr_t>(at), bytes, who, write);
    });
    return;
  }
  each_run(t, stride, [&](index_t at, std::size_t bytes) {
    enter_bytes(static_cast<const std::byte*>(start) + at, bytes, who, write, happened_before);
  });
}

// The same for memory of the process, which operations under way may use.
void schedule::enter_near(std::uintptr_t start, std::size_t bytes, const access& who, bool write) {
  if (const near_use* u = marks_.disturbed(start, bytes, write)) {
    const bad_access b{bad_access::kind::in_use, start, bytes, write, nullptr, nullptr, *u};
    fail({defect::source_reused, "", {who.block}, {}, b});
  }
  if (!who.operation) return;
  const operation_fact& o = work_.scheduled[static_cast<std::size_t>(who.block)].operations[who.stamp];
  marks_.add_use({start, start + bytes, who.block, who.stamp, write, o.context});
}

void schedule::enter_bytes(const void* start, std::size_t bytes, const access& who, bool write,
                           const happens_before& happened_before) {
  const access_scope* scope = work_.scheduled[static_cast<std::size_t>(who.block)].scope;
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  allowed_run near;
  if (scope != nullptr && !scope->allows(address, bytes, write, near))
    fail({defect::undeclared,
          "",
          {who.block},
          {},
          bad_access{bad_access::kind::undeclared, address, bytes, write, nullptr, scope}});
  conflict met;
  bool race = false;
  memory_.over(start, bytes, [&](line& l, std::uint64_t mask) {
    if (!race) race = !memory_.enter(l, mask, who, write, happened_before, met);
  });
  if (race) fail({defect::unordered_write, "", {who.block}, met});
}

// What a put of the block to `pe` comes after: all that happened before it, and its own operations of the same context
// that were fenced.
const happens_before& schedule::happened_before_put(scheduled_block& a, int pe, int context) {
  const operation_set& fenced = a.epochs_to(pe, context).fenced;
  if (fenced.empty()) return a.happened_before;
  with_fenced_ = a.happened_before;
  with_fenced_.complete(static_cast<std::size_t>(a.number), fenced);
  return with_fenced_;
}

release schedule::release_of(scheduled_block& a, int pe, bool orders, int context) {
  if (a.released == nullptr) a.released = snapshots_.take(a.happened_before);
  ++a.released->users;
  release r{a.released, a.clock, {}, orders};
  if (orders) r.fenced = a.epochs_to(pe, context).fenced;
  ++a.clock;
  return r;
}

void schedule::prepare_raise(scheduled_block& a, outstanding_operation& op, const signal_update& s) {
  op.raises = true;
  op.update = s;
  op.sync = sync_.at(s.target);
  sync_variable& w = sync_[op.sync];
  if (s.op == signal_op::set) {
    const auto before = static_cast<std::size_t>(w.setter);
    if (w.setter >= 0 && w.setter != a.number && !a.happened_before.arrived[before].contains(w.set_number)) {
      const scheduled_block& other = work_.scheduled[before];
      const where at = other.operations[w.set_number].at;
      fail({defect::two_writers,
            message(place_text(work_.memory, s.target), " is set by ", block_text(other), " at ", at.file, ":", at.line,
                    " and by ", block_text(a), " at ", s.at.file, ":", s.at.line,
                    ", and nothing orders the two; give each sender a signal of its own"),
            {other.number, a.number}});
    }
    if (s.value != 0 && (s.target->value == s.value || (w.setter == a.number && w.set_value == s.value)))
      a.same_again = {s.at, s.target, s.value};
    w.set_value = s.value;
    w.setter = a.number;
    w.set_number = op.number;
  }
  releaser& mine = w.of(a.number);
  op.after = mine.last_issued;
  mine.last_issued = op.number + 1;
  op.covers = release_of(a, s.pe, s.orders, s.context);
}

// A put of one word may be what another block waits for. It releases itself and what was fenced before, and orders
// what its block has read before, as a packet does.
void schedule::prepare_release_by_data(scheduled_block& a, outstanding_operation& op) {
  const transfer& t = op.move;
  const bool one_word = t.count == 1 && (t.element == 4 || t.element == 8) && memory_.covers(t.dest) &&
                        reinterpret_cast<std::uintptr_t>(t.dest) % t.element == 0;
  if (!one_word) return;
  op.releases_by_data = true;
  op.sync = sync_.at(t.dest, t.element);
  if (!sync_[op.sync].raised) sync_[op.sync].by_data = true;
  op.covers = release_of(a, op.pe, false, op.context);
  op.covers.fenced = a.epochs_to(op.pe, op.context).fenced;
}

// What the caller may change again is copied; bytes without a value travel as such.
void schedule::keep_source(scheduled_block& a, outstanding_operation& op) {
  transfer& t = op.move;
  if (t.count <= 0) return;
  const auto* source = static_cast<const std::byte*>(t.source);
  const auto bytes = static_cast<std::size_t>(t.count) * t.element;
  const access by_block{a.number, a.clock, false, false};
  const access by_operation{a.number, op.number, true, false};
  enter(t.source, t, t.source_stride, t.blocking ? by_block : by_operation, false, a.happened_before);
  if (memory_.covers(t.source)) {
    bool whole = true;
    each_run(t, t.source_stride, [&](index_t at, std::size_t n) { whole = whole && memory_.valued(source + at, n); });
    if (!whole) {
      op.lacking.assign(bytes, false);
      std::size_t i = 0;
      each_run(t, t.source_stride, [&](index_t at, std::size_t n) {
        for (std::size_t k = 0; k < n; ++k) op.lacking[i++] = !memory_.valued(source + at + k, 1);
      });
    }
  }
  if (!t.blocking) return;
  op.staged.clear();
  each_run(t, t.source_stride,
           [&](index_t at, std::size_t n) { op.staged.insert(op.staged.end(), source + at, source + at + n); });
  t.source = op.staged.data();
  t.source_stride = 1;
}

void schedule::put(scheduled_block& a, const transfer& t, const signal_update* s) {
  outstanding_operation& op = network_.issue(a, t.pe, t.context,
                                             s != nullptr ? "put_signal"
                                             : t.blocking ? "put"
                                                          : "put_nbi",
                                             t.at, t.blocking);
  op.move = t;
  enter(t.dest, t, t.dest_stride, {a.number, op.number, true, false}, true, happened_before_put(a, t.pe, t.context));
  keep_source(a, op);
  if (s != nullptr)
    prepare_raise(a, op, *s);
  else
    prepare_release_by_data(a, op);
  if (cards_.apart(a.pe, t.pe) && (t.count > 0 || s != nullptr)) {
    network_.hand_to_card(op);
    cards_.put(a, t, s, op);
  } else {
    network_.send(op, random_);
  }
  resume(a);
}

void schedule::get(scheduled_block& a, const transfer& t) {
  const bool now = t.blocking;
  outstanding_operation* op = now ? nullptr : &network_.issue(a, t.pe, t.context, "get_nbi", t.at, false);
  const access who = now ? access{a.number, a.clock, false, false} : access{a.number, op->number, true, false};
  enter(t.source, t, t.source_stride, who, false, happened_before_put(a, t.pe, t.context));
  enter(t.dest, t, t.dest_stride, who, true, a.happened_before);
  if (cards_.apart(a.pe, t.pe) && t.count > 0) {
    get_by_card(a, t, now ? network_.issue(a, t.pe, t.context, "get", t.at, true) : *op);
    return;
  }
  if (!now) {
    op->move = t;
    network_.send(*op, random_);
    resume(a);
    return;
  }
  // A get that is waited for is one copy: nobody else runs meanwhile.
  outstanding_operation& copy = network_.issue(a, t.pe, t.context, "get", t.at, true);
  copy.move = t;
  network_.carry_out(copy);
  if (clock_) clock_->add_answer(a, t.pe, static_cast<std::size_t>(std::max<index_t>(t.count, 0)) * t.element);
  operation_set one;
  one.insert(copy.number);
  a.happened_before.complete(static_cast<std::size_t>(a.number), one);
  resume(a);
}

void schedule::update(scheduled_block& a, const signal_update& s) {
  outstanding_operation& op = network_.issue(a, s.pe, s.context, "signal", s.at, true);
  prepare_raise(a, op, s);
  if (cards_.apart(a.pe, s.pe)) {
    network_.hand_to_card(op);
    cards_.signal(a, s, op);
  } else {
    network_.send(op, random_);
  }
  resume(a);
}

void schedule::get_by_card(scheduled_block& a, const transfer& t, outstanding_operation& op) {
  const std::uint32_t number = op.number;
  op.move = t;
  network_.hand_to_card(op);
  cards_.get(a, t, op);
  if (memory_.covers(t.dest))
    each_run(t, t.dest_stride, [&](index_t at, std::size_t bytes) {
      memory_.give_value(static_cast<const std::byte*>(t.dest) + at, bytes);
    });
  if (t.blocking) {
    if (!a.done.contains(number))
      fail({defect::network,
            message(block_text(a), ": get at ", t.at.file, ":", t.at.line, " has returned before its data is there"),
            {a.number}});
    operation_set one;
    one.insert(number);
    a.happened_before.complete(static_cast<std::size_t>(a.number), one);
  }
  resume(a);
}

// The block acquires the sync variables that compare as it wanted.
void schedule::acquire(scheduled_block& a, const wait_request& w) {
  const std::size_t bytes = bytes_of(w.kind);
  for (index_t i = 0; i < w.n; ++i) {
    if (!holds(w, i)) continue;
    sync_variable& one = sync_[sync_.at(address_of(w, i), bytes)];
    if (w.op == operation::take_value)
      sync_.acquire_value(one, a);
    else
      sync_.acquire(one, a);
    if (!is_of_signal(w)) acquire_data(a, address_of(w, i), bytes, w.op != operation::take_value);
  }
}

// A word of a put of several: it is there. When all of the put is, that is complete, and so is what was fenced before.
void schedule::acquire_data(scheduled_block& a, const void* word, std::size_t bytes, bool acquires) {
  memory_.forget_operations(word, bytes, [&](const access& by) {
    const scheduled_block& from = work_.scheduled[static_cast<std::size_t>(by.block)];
    const auto block = static_cast<std::size_t>(by.block);
    if (a.happened_before.operations[block].contains(by.stamp)) return false;
    if (!from.done.contains(by.stamp)) return network_.arrived(from, by.stamp, word);
    const operation_fact& o = from.operations[by.stamp];
    operation_set here;
    here.insert(by.stamp);
    for (std::uint32_t n = 0; acquires && n < by.stamp; ++n)
      if (from.operations[n].pe == o.pe && from.operations[n].context == o.context &&
          from.operations[n].epoch < o.epoch)
        here.insert(n);
    a.happened_before.complete(block, here);
    snapshots_.drop(a.released);
    return false;
  });
}

bool schedule::wait(scheduled_block& a, const wait_request& w) {
  const bool of_signal = is_of_signal(w);
  const std::size_t bytes = bytes_of(w.kind);
  for (index_t i = 0; i < w.n; ++i) {
    if (!counts(w, i)) continue;
    sync_variable& one = sync_[sync_.at(address_of(w, i), bytes)];
    one.awaited = true;
    if (!memory_.valued(address_of(w, i), bytes) && !one.raised)
      fail({defect::uninitialised,
            message(block_text(a), " waits at ", w.at.file, ":", w.at.line, " for ",
                    place_text(work_.memory, address_of(w, i)),
                    ", which has no value; set signals to 0 with machine::fill before the run"),
            {a.number}});
    if (w.n == 1 && !one.raised && w.wanted != 0 && satisfied(w)) a.passed_early = {w.at, w.local, seen_by(w, 0)};
  }
  a.awaited = w;
  a.timed_out = false;
  // A time may be over before anything else happens.
  if (w.limit_ns != 0 && !satisfied(w) && !canonical_ && random_.chance(32)) {
    for (std::size_t turns = random_.below(16); turns > 0 && !satisfied(w); --turns) turn(a);
    a.timed_out = !satisfied(w);
  }
  value_waits_ += of_signal ? 0 : 1;
  timed_waits_ += w.limit_ns != 0 ? 1 : 0;
  while (!satisfied(w) && !a.timed_out) sleep(a);
  value_waits_ -= of_signal ? 0 : 1;
  timed_waits_ -= w.limit_ns != 0 ? 1 : 0;
  const bool came = satisfied(w);
  if (came) {
    if (clock_) clock_->add_taken(a, w);
    acquire(a, w);
    polls_ = 0;
    spins_.progress();
  }
  resume(a);
  return came;
}

void schedule::wait_for_any(scheduled_block& a, std::span<const wait_request* const> all) {
  int values = 0;
  for (const wait_request* w : all) {
    values += is_of_signal(*w) ? 0 : 1;
    for (index_t i = 0; i < w->n; ++i)
      if (counts(*w, i)) sync_[sync_.at(address_of(*w, i), bytes_of(w->kind))].awaited = true;
  }
  a.awaited = *all.front();
  a.awaited_by_threads = all;
  a.timed_out = false;
  value_waits_ += values;
  const auto came = [](const wait_request* w) { return satisfied(*w); };
  while (std::none_of(all.begin(), all.end(), came)) sleep(a);
  value_waits_ -= values;
  a.awaited_by_threads = {};
}

bool schedule::test(scheduled_block& a, const wait_request& w) {
  sync_[sync_.at(w.local, bytes_of(w.kind))].awaited = true;
  const bool yes = satisfied(w);
  if (yes)
    acquire(a, w);
  else
    ++polls_;
  resume(a);
  return yes;
}

void schedule::fence(scheduled_block& a, int context) {
  cards_.fence(a, context);
  for (fence_epochs& l : a.epochs_of(context)) {
    if (l.unfenced.empty()) continue;
    for (const std::uint32_t n : l.unfenced) l.fenced.insert(n);
    l.unfenced.clear();
    ++l.epoch;
    l.outstanding.push_back(0);
    while (l.oldest < l.epoch && l.outstanding[l.oldest] == 0) ++l.oldest;
  }
  resume(a);
}

// Waits until all operations of the block's context have arrived.
void schedule::complete_all(scheduled_block& a, int context) {
  a.in_quiet = true;
  a.quiet_of = context;
  while (!a.arrived(context)) sleep(a);
  a.in_quiet = false;
  marks_.end_uses(a.number, context);
  operation_set all;
  if (context == any_context || a.contexts.none_open()) {
    all.insert_below(static_cast<std::uint32_t>(a.operations.size()));
  } else {
    for (const fence_epochs& l : a.epochs_of(context)) {
      all.merge(l.fenced);
      for (const std::uint32_t n : l.unfenced) all.insert(n);
    }
  }
  a.happened_before.complete(static_cast<std::size_t>(a.number), all);
}

void schedule::end_outstanding(scheduled_block& a, int context) {
  complete_all(a, context);
  for (fence_epochs& l : a.epochs_of(context)) {
    l.unfenced.clear();
    l.fenced.clear();
  }
  snapshots_.drop(a.released);
}

void schedule::quiet(scheduled_block& a, int context) {
  cards_.quiet(a, context);
  end_outstanding(a, context);
  resume(a);
}

void schedule::collective(scheduled_block& a, const collective_call& c) {
  const std::string problem = collectives_.enter(a, c);
  if (!problem.empty()) fail({defect::collective, problem, {a.number}});
  if (clock_) clock_->add_meeting(a);
  resume(a);
}

}  // namespace starling::check
