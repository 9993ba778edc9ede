#include "network.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace starling::check {
namespace {

// The order of a heap whose first is what arrives first.
bool later(const outstanding_operation* a, const outstanding_operation* b) {
  return a->arrives != b->arrives ? a->arrives > b->arrives : a->serial > b->serial;
}

}  // namespace

void network::reset() {
  for (outstanding_operation* op : in_flight_) free_.push_back(op);
  for (outstanding_operation* op : by_card_) free_.push_back(op);
  in_flight_.clear();
  by_card_.clear();
  deliveries_ = 0;
}

outstanding_operation& network::issue(scheduled_block& from, int pe, int context, const char* what, where at,
                                      bool blocking) {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<outstanding_operation>());
    free_.push_back(pool_.back().get());
  }
  outstanding_operation& op = *free_.back();
  free_.pop_back();
  op.from = &from;
  op.number = static_cast<std::uint32_t>(from.operations.size());
  from.operations.push_back({what, at, pe, blocking, from.epochs_to(pe, context).epoch, context});
  op.pe = pe;
  op.context = context;
  op.move = transfer{};
  op.lacking.clear();
  op.pieces.clear();
  op.raises = op.releases_by_data = false;
  op.left = 0;
  op.landed.clear();
  op.covers.base = nullptr;
  op.covers.fenced.clear();
  return op;
}

void network::count_out(outstanding_operation& op) {
  fence_epochs& l = op.from->epochs_to(op.pe, op.context);
  op.epoch = l.epoch;
  ++l.outstanding[op.epoch];
  l.unfenced.push_back(op.number);
  ++op.from->outstanding[static_cast<std::size_t>(op.context)];
}

void network::send(outstanding_operation& op, random& r) {
  count_out(op);
  const index_t n = op.move.count;
  // Pieces of 8 bytes or an element, whichever is more; a few of them, at random places.
  const index_t grain = op.move.element >= 8 ? 1 : static_cast<index_t>(8 / op.move.element);
  index_t begin = 0;
  for (int cut = in_pieces_ ? 3 : 0; cut > 0 && n - begin > grain; --cut) {
    const index_t end =
        begin + grain * static_cast<index_t>(1 + r.below(static_cast<std::size_t>((n - begin) / grain)));
    if (end >= n) break;
    op.pieces.push_back({begin, end});
    begin = end;
  }
  if (begin < n) op.pieces.push_back({begin, n});
  in_flight_.push_back(&op);
  if (clock_ == nullptr) return;
  op.arrives = clock_->arrival(op);
  op.serial = sent_++;
  std::push_heap(in_flight_.begin(), in_flight_.end(), later);
}

void network::carry_out(outstanding_operation& op) {
  ++deliveries_;
  move_piece(op, {0, op.move.count});
  op.from->done.insert(op.number);
  free_.push_back(&op);
}

bool network::may_go(const outstanding_operation& op) const {
  if (op.epoch > op.from->epochs_to(op.pe, op.context).oldest) return false;
  return !op.pieces.empty() || op.after == 0 || !op.raises || op.from->done.contains(op.after - 1);
}

void network::move_piece(outstanding_operation& op, index_range piece) {
  const transfer& t = op.move;
  const auto element = static_cast<index_t>(t.element);
  const auto copy = [&](index_t i, index_t n) {
    std::byte* to = static_cast<std::byte*>(t.dest) + i * t.dest_stride * element;
    std::memcpy(to, static_cast<const std::byte*>(t.source) + i * t.source_stride * element,
                static_cast<std::size_t>(n * element));
    if (!memory_.covers(to)) return;
    memory_.give_value(to, static_cast<std::size_t>(n * element));
    for (index_t k = 0; k < n * element && !op.lacking.empty(); ++k)
      if (op.lacking[static_cast<std::size_t>(i * element + k)])
        memory_.over(to + k, 1, [](line& l, std::uint64_t mask) { l.initialised &= ~mask; });
  };
  if (t.dest_stride == 1 && t.source_stride == 1) {
    copy(piece.begin, piece.size());
  } else {
    for (index_t i = piece.begin; i < piece.end; ++i) copy(i, 1);
  }
}

bool network::arrived(const scheduled_block& from, std::uint32_t number, const void* word) const {
  if (from.done.contains(number)) return true;
  for (const outstanding_operation* op : in_flight_) {
    if (op->from != &from || op->number != number) continue;
    const transfer& t = op->move;
    const auto step = t.dest_stride * static_cast<index_t>(t.element);
    const index_t i = (static_cast<const std::byte*>(word) - static_cast<const std::byte*>(t.dest)) / step;
    for (const index_range& p : op->pieces)
      if (i >= p.begin && i < p.end) return false;
  }
  for (const outstanding_operation* op : by_card_) {
    if (op->from != &from || op->number != number) continue;
    return std::any_of(op->landed.begin(), op->landed.end(), [&](const auto& l) {
      const auto* at = static_cast<const std::byte*>(word);
      return at >= l.first && at < l.first + l.second;
    });
  }
  return true;
}

network::delivery network::deliver_one(random& r) {
  std::size_t index = r.below(in_flight_.size());
  while (!may_go(*in_flight_[index])) index = (index + 1) % in_flight_.size();  // the oldest of all may always go
  return deliver(index, &r);
}

// What arrives in order of time may always go: a block's messages to a PE arrive as they were sent.
network::delivery network::deliver_next() {
  std::pop_heap(in_flight_.begin(), in_flight_.end(), later);
  const std::size_t all = in_flight_.size();
  const delivery d = deliver(all - 1, nullptr);
  if (in_flight_.size() == all) std::push_heap(in_flight_.begin(), in_flight_.end(), later);
  return d;
}

// One piece, drawn, or the first one; when none is left, the signal.
network::delivery network::deliver(std::size_t index, random* r) {
  outstanding_operation& op = *in_flight_[index];
  delivery d;
  ++deliveries_;
  if (!op.pieces.empty()) {
    const std::size_t p = r != nullptr ? r->below(op.pieces.size()) : 0;
    move_piece(op, op.pieces[p]);
    op.pieces[p] = op.pieces.back();
    op.pieces.pop_back();
    if (op.releases_by_data) {
      sync_.raise(sync_[op.sync], op.from->number, op.number, op.covers);
      sync_[op.sync].raised_at = op.from->operations[op.number].at;
      d.released_by_data = true;
    }
    if (!op.pieces.empty() || op.raises) return d;
  }
  if (op.raises) {
    d.valued = memory_.valued(op.update.target, sizeof(signal));
    std::atomic_ref value(op.update.target->value);
    d.before = value.load();
    value.store(op.update.op == signal_op::set ? op.update.value : d.before + op.update.value);
    sync_.raise(sync_[op.sync], op.from->number, op.number, op.covers);
    sync_[op.sync].raised_at = op.update.at;
    d.raised = &op;
  }
  d.completed = op.from;
  complete(index);
  return d;
}

void network::complete(std::size_t index) {
  outstanding_operation& op = *in_flight_[index];
  in_flight_[index] = in_flight_.back();
  in_flight_.pop_back();
  count_in(op);
}

void network::count_in(outstanding_operation& op) {
  scheduled_block& from = *op.from;
  from.done.insert(op.number);
  --from.outstanding[static_cast<std::size_t>(op.context)];
  fence_epochs& l = from.epochs_to(op.pe, op.context);
  --l.outstanding[op.epoch];
  while (l.oldest < l.epoch && l.outstanding[l.oldest] == 0) ++l.oldest;
  free_.push_back(&op);
}

void network::hand_to_card(outstanding_operation& op) {
  count_out(op);
  op.left = op.move.count > 0 ? static_cast<std::size_t>(op.move.count) * op.move.element : 0;
  by_card_.push_back(&op);
}

bool network::land(outstanding_operation& op, void* to, const void* from, std::size_t bytes) {
  ++deliveries_;
  std::memcpy(to, from, bytes);
  op.left -= std::min(op.left, bytes);
  const auto* start = static_cast<const std::byte*>(to);
  op.landed.emplace_back(start, bytes);
  if (!memory_.covers(to)) return false;
  memory_.give_value(to, bytes);
  if (!op.lacking.empty()) {
    const auto element = static_cast<index_t>(op.move.element);
    const index_t step = op.move.dest_stride * element;
    const index_t first = start - static_cast<const std::byte*>(op.move.dest);
    for (index_t k = 0; k < static_cast<index_t>(bytes); ++k)
      if (op.lacking[static_cast<std::size_t>((first + k) / step * element + (first + k) % step)])
        memory_.over(start + k, 1, [](line& l, std::uint64_t mask) { l.initialised &= ~mask; });
  }
  if (!op.releases_by_data) return false;
  sync_.raise(sync_[op.sync], op.from->number, op.number, op.covers);
  sync_[op.sync].raised_at = op.from->operations[op.number].at;
  return true;
}

network::delivery network::raise(outstanding_operation& op, std::uint64_t value) {
  delivery d;
  ++deliveries_;
  d.valued = memory_.valued(op.update.target, sizeof(signal));
  std::atomic_ref word(op.update.target->value);
  d.before = word.load();
  word.store(value);
  sync_.raise(sync_[op.sync], op.from->number, op.number, op.covers);
  sync_[op.sync].raised_at = op.update.at;
  d.raised = &op;
  return d;
}

void network::finish(outstanding_operation& op) {
  std::erase(by_card_, &op);
  count_in(op);
}

}  // namespace starling::check
