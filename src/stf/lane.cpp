#include "lane.hpp"

#include <algorithm>

namespace starling::stf {

lane::lane(machine& m, int pe, std::uint32_t id, std::size_t lanes)
    : id_(id), pe_(pe), machine_(m), stream_(m.new_stream(pe)), known_(lanes, 0) {}

lane::point lane::record(std::uint64_t number) {
  if (points_.size() == remembered) {
    // Who was told to wait for it has been told: a wait is for the event as recorded then.
    numbered_point oldest = std::move(points_.front());
    points_.pop_front();
    points_.push_back(std::move(oldest));
  } else {
    points_.push_back({0, {machine_.new_event(pe_), {}}});
  }
  numbered_point& newest = points_.back();
  stream_.record(newest.p.reached);
  newest.number = number;
  newest.p.known = known_;
  newest.p.known[id_] = number;
  return newest.p;
}

lane::point lane::after(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  for (const numbered_point& p : points_)
    if (p.number >= number) return p.p;
  return record(tip_);
}

void lane::pin_tip() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t tip = tip_;
  if (tip <= floor_ || (!points_.empty() && points_.back().number >= tip)) return;
  record(tip);
}

bool lane::knows(const moment& m) const {
  const std::lock_guard lock(mutex_);
  return known_[m.lane] >= m.number;
}

void lane::learn(const std::vector<std::uint64_t>& known) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < known_.size(); ++i) known_[i] = std::max(known_[i], known[i]);
}

void lane::raise_floor() {
  const std::lock_guard lock(mutex_);
  floor_ = tip_.load();
  points_.clear();
}

}  // namespace starling::stf
