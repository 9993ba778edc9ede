#include "stream_slot.hpp"

#include <algorithm>

namespace starling::stf {

stream_slot::stream_slot(machine& m, int pe, std::uint32_t id, std::size_t slots, std::atomic<std::uint64_t>& clock,
                         int priority)
    : id_(id), pe_(pe), machine_(m), clock_(clock), priority_(priority), known_(slots, 0) {
  if (priority == 0) make_stream();
}

void stream_slot::make_stream() {
  const std::lock_guard lock(making_);
  if (!stream_) stream_.emplace(machine_.new_stream(pe_, priority_));
  has_stream_.store(true, std::memory_order_release);
}

sync_point stream_slot::record() {
  const std::uint64_t number = ++clock_;
  std::uint64_t before = newest_;
  while (before < number && !newest_.compare_exchange_weak(before, number)) {
  }
  return {id_, number};
}

const stream_slot::point& stream_slot::record_event(std::uint64_t number) {
  if (points_.size() == remembered) {
    // Who was told to wait for it has been told: a wait is for the event as recorded then.
    point oldest = std::move(points_.front());
    points_.pop_front();
    points_.push_back(std::move(oldest));
  } else {
    points_.push_back({0, machine_.new_event(pe_, event_use::ordering), {}});
  }
  point& newest = points_.back();
  stream().record(newest.reached);
  newest.number = number;
  newest.known = known_;
  newest.known[id_] = number;
  return newest;
}

const stream_slot::point& stream_slot::point_after(std::uint64_t number) {
  for (const point& p : points_)
    if (p.number >= number) return p;
  return record_event(newest_);
}

// The lock is held until the wait is in the stream: a point is waited for only when it is in its own.
void stream_slot::make_wait(starling::stream& later, std::uint64_t number, std::vector<std::uint64_t>& over) {
  const std::lock_guard lock(mutex_);
  const point& p = point_after(number);
  later.wait(p.reached);
  over = p.known;
}

void stream_slot::make_wait(starling::stream& later, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  later.wait(point_after(number).reached);
}

event stream_slot::after(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return point_after(number).reached;
}

void stream_slot::pin_newest() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t newest = newest_;
  if (newest <= completed_ || (!points_.empty() && points_.back().number >= newest)) return;
  record_event(newest);
}

void stream_slot::synchronize() {
  const std::uint64_t now = handed_out_;
  if (over_when_handed_ == now) return;
  stream_->synchronize();
  over_when_handed_ = now;
}

bool stream_slot::covers(const sync_point& m) const {
  const std::lock_guard lock(mutex_);
  return known_[m.slot] >= m.number;
}

void stream_slot::merge(const std::vector<std::uint64_t>& known) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < known_.size(); ++i) known_[i] = std::max(known_[i], known[i]);
}

void stream_slot::all_completed() {
  const std::lock_guard lock(mutex_);
  completed_ = newest_.load();
  points_.clear();
}

}  // namespace starling::stf
