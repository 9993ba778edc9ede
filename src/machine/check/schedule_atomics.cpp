// The part of a schedule that is atomic operations of blocks.
#include <cstring>

#include "schedule.hpp"

namespace starling::check {

void schedule::atomic(scheduled_block& a, const atomic_call& c) {
  if (releases(c.order)) {
    cards_.quiet(a, c.context);
    end_outstanding(a, c.context);
  }
  enter_bytes(c.address, c.bytes, {a.number, a.clock, false, true}, true, a.happened_before);
  memory_.give_value(c.address, c.bytes);
  if (cards_.apart(a.pe, c.pe)) {
    cards_.atomic(a, c, [&](std::uint64_t before, std::uint64_t after, bool stored) {
      note_atomic(a, c, before, after, stored || c.card == by_card::add);
    });
  } else {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::memcpy(&before, c.address, c.bytes);
    const bool stored = c.apply(c.argument);
    std::memcpy(&after, c.address, c.bytes);
    note_atomic(a, c, before, after, stored);
  }
  if (clock_) clock_->add_answer(a, c.pe, c.bytes);
  if (c.fetch != nullptr) fetch_later(a, c);
  resume(a);
}

void schedule::note_atomic(scheduled_block& a, const atomic_call& c, std::uint64_t before, std::uint64_t after,
                           bool stored) {
  if (acquires(c.order)) sync_.acquire(sync_[sync_.at(c.address, c.bytes)], a);
  if (stored && releases(c.order)) raise_at_once(a, c);
  if (after != before)
    spins_.changed(a.number, c);
  else
    spins_.attempt_failed(a, c);
  ++polls_;
  wake(c.address);
}

// The result of an atomic operation that is not waited for: outstanding until quiet().
void schedule::fetch_later(scheduled_block& a, const atomic_call& c) {
  outstanding_operation& op = network_.issue(a, c.pe, c.context, "atomic_nbi", c.at, false);
  transfer& t = op.move;
  t.count = 1;
  t.element = c.bytes;
  t.dest = c.fetch;
  const auto* result = static_cast<const std::byte*>(c.result);
  op.staged.assign(result, result + c.bytes);
  t.source = op.staged.data();
  enter(c.fetch, t, 1, {a.number, op.number, true, false}, true, a.happened_before);
  network_.send(op, random_);
}

// A release by an atomic operation: who acquires the word is ordered after what happened before.
void schedule::raise_at_once(scheduled_block& a, const atomic_call& c) {
  outstanding_operation& op = network_.issue(a, c.pe, c.context, "atomic", c.at, true);
  const std::uint32_t number = sync_.at(c.address, c.bytes);
  op.covers = release_of(a, c.pe, true, c.context);
  sync_.raise(sync_[number], a.number, op.number, op.covers);
  sync_[number].raised_at = c.at;
  network_.carry_out(op);
  operation_set one;
  one.insert(op.number);
  a.happened_before.complete(static_cast<std::size_t>(a.number), one);
}

}  // namespace starling::check
