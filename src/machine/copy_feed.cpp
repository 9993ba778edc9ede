#include "copy_feed.hpp"

#include <algorithm>
#include <atomic>

namespace starling {
namespace {

// What a stream is given ahead: far fewer operations than a hardware queue takes (some hundreds) before CUDA makes the
// host wait, and few bytes, since a wait that is let go at the end copies in vain.
constexpr std::uint64_t operations_ahead = 128;
constexpr std::size_t bytes_ahead = std::size_t{16} << 20;

std::uint64_t most_ahead(const copy_step& s) {
  const std::size_t receivers = s.to.size() + (s.arrived_host != nullptr ? 1 : 0);
  const std::uint64_t operations = operations_ahead / (2 * receivers + 3);
  const std::uint64_t by_bytes = bytes_ahead / std::max(s.bytes * receivers, std::size_t{1});
  return std::max(std::min(operations, by_bytes), std::uint64_t{2});
}

// Words of the host that a device writes too.
std::atomic_ref<std::uint64_t> awaited(const copy_step& s, int pe) { return std::atomic_ref(s.awaited.on(pe)->value); }

bool is_made(const copy_step& s, int pe) { return triggered_copies::is_made(awaited(s, pe).load(), s.value); }

std::uint64_t reached(const fed_queue& q) { return std::atomic_ref(*q.reached).load(std::memory_order_acquire); }

}  // namespace

void copy_feed::add(const triggered_copies& of, int pe, int number, std::uint64_t* reached) {
  fed_queue& q = queues_.emplace_back(fed_queue{&of, pe, number, reached});
  q.over = !of.step(pe, number, 0, q.next);
}

void copy_feed::clear() {
  queues_.clear();
  ending_ = false;
}

fed_queue* copy_feed::earliest() {
  fed_queue* first = nullptr;
  for (fed_queue& q : queues_) {
    if (ending_ && !q.over) q.over = !is_made(q.next, q.pe);
    if (!q.over && (first == nullptr || q.next.value < first->next.value)) first = &q;
  }
  return first;
}

fed_queue* copy_feed::next() {
  fed_queue* q = earliest();
  return q != nullptr && q->given - reached(*q) < most_ahead(q->next) ? q : nullptr;
}

void copy_feed::put(fed_queue& q) { q.over = !q.of->step(q.pe, q.number, ++q.given, q.next); }

bool copy_feed::more() {
  if (earliest() != nullptr) return true;
  copy_step s;
  return std::any_of(queues_.begin(), queues_.end(), [&](const fed_queue& q) {
    const std::uint64_t now = reached(q);
    return now < q.given && q.of->step(q.pe, q.number, now, s) && is_made(s, q.pe);
  });
}

void copy_feed::release() noexcept {
  end();
  copy_step s;
  for (const fed_queue& q : queues_)
    for (std::uint64_t i = reached(q); i < q.given; ++i) {
      if (!q.of->step(q.pe, q.number, i, s) || is_made(s, q.pe)) continue;
      const auto word = awaited(s, q.pe);
      std::atomic_ref(*s.made.on(q.pe)).store(word.load() & ~triggered_copies::over);
      word.fetch_or(triggered_copies::over);
    }
}

}  // namespace starling
