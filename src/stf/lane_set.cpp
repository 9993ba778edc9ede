#include "lane_set.hpp"

#include <exception>

#include "starling/base/error.hpp"

namespace starling::stf {
namespace {

constexpr int lanes_of_device = lane_set::per_place + 2;

}  // namespace

lane_set::lane_set(machine m)
    : machine_(std::move(m)),
      next_(static_cast<std::size_t>(machine_.size()) + 1),
      origin_(machine_.new_stream(0)),
      start_(machine_.new_event(0)),
      joined_(static_cast<std::size_t>(machine_.size() * lanes_of_device + per_place)) {
  // Device by device its lanes for tasks, for copies to it, for copies from it; then the host's.
  for (std::size_t i = 0; i < joined_.size(); ++i) {
    const int place = static_cast<int>(i) / lanes_of_device;
    lanes_.push_back(std::make_unique<lane>(machine_, place < machine_.size() ? place : 0,
                                            static_cast<std::uint32_t>(i), joined_.size()));
  }
}

lane& lane_set::take(int pe, const moment_list& before) {
  const int place = pe == host_place ? machine_.size() : pe;
  const auto first = static_cast<std::size_t>(place * lanes_of_device);
  for (const moment& m : before) {
    if (m.lane < first || m.lane >= first + per_place) continue;
    lane& l = *lanes_[m.lane];
    if (l.tip() == m.number && l.try_take()) return l;
  }
  auto& next = next_[static_cast<std::size_t>(place)];
  lane* chosen = nullptr;
  for (int i = 0; i < per_place && chosen == nullptr; ++i) {
    lane& l = *lanes_[first + next++ % per_place];
    if (l.try_take()) chosen = &l;
  }
  // All are being given work: then this one is shared.
  if (chosen == nullptr) chosen = lanes_[first + next++ % per_place].get();
  chosen->pin_tip();
  return *chosen;
}

lane& lane_set::for_copy(int from, int to) {
  const int place = to == host_place ? from : to;
  if (place == host_place) return *lanes_[static_cast<std::size_t>(machine_.size() * lanes_of_device)];
  return *lanes_[static_cast<std::size_t>(place * lanes_of_device + per_place + (to == host_place ? 1 : 0))];
}

void lane_set::join(lane& l) {
  std::atomic<bool>& joined = joined_[l.id()];
  if (!gated_ || joined.load(std::memory_order_acquire)) return;
  // Others who share the lane go on only when the wait is in it.
  const std::lock_guard lock(join_mutex_);
  if (joined.load(std::memory_order_relaxed)) return;
  l.stream().wait(start_);
  joined.store(true, std::memory_order_release);
}

void lane_set::order(lane& later, const moment_list& before) {
  join(later);
  for (const moment& m : before) {
    lane& earlier = *lanes_[m.lane];
    if (m.lane == later.id() || m.number <= earlier.floor() || later.knows(m)) continue;
    later.learn(earlier.hold_back(later.stream(), m.number));
  }
}

void lane_set::wait(const moment_list& before) {
  expect<argument_error>(!recording_,
                         "stf: the host waits for work that is being recorded; end the epoch with fence()");
  for (const moment& m : before) {
    lane& l = *lanes_[m.lane];
    if (m.number > l.floor()) l.after(m.number).synchronize();
  }
  origin_.synchronize();
}

bool lane_set::over(const moment_list& before) {
  // Of what is ordered by graphs it is not known.
  if (recorded_before_) return before.empty();
  for (const moment& m : before) {
    lane& l = *lanes_[m.lane];
    if (m.number > l.floor() && !l.after(m.number).done()) return false;
  }
  return true;
}

void lane_set::wait_for_all() {
  std::exception_ptr first;
  const auto wait_for = [&first](stream& s) {
    try {
      s.synchronize();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  };
  wait_for(origin_);
  for (const auto& l : lanes_) wait_for(l->stream());
  if (first) std::rethrow_exception(first);
  raise_floors();
}

void lane_set::raise_floors() {
  for (const auto& l : lanes_) l->raise_floor();
}

stream& lane_set::gather() {
  for (const auto& l : lanes_)
    if (const std::uint64_t tip = l->tip(); tip > l->floor()) (void)l->hold_back(origin_, tip);
  return origin_;
}

void lane_set::begin_recording() {
  gather();
  raise_floors();
  recorded_before_ = true;
  recording_.emplace(machine_.start_recording(origin_));
  gate();
}

void lane_set::gate() {
  origin_.record(start_);
  for (auto& j : joined_) j = false;
  gated_ = true;
}

void lane_set::resume() {
  if (origin_ahead_) gate();
  origin_ahead_ = false;
}

bool lane_set::end_recording(std::optional<graph>& into) {
  for (const auto& l : lanes_) {
    if (!joined_[l->id()]) continue;
    l->mark();
    l->hold_back(origin_, l->tip());
  }
  raise_floors();
  starling::recording done = std::move(*recording_);
  recording_.reset();
  gated_ = false;
  origin_ahead_ = true;
  if (into) return done.finish_into(*into);
  into.emplace(done.finish());
  return false;
}

void lane_set::abandon_recording() {
  recording_.reset();
  gated_ = false;
  origin_ahead_ = true;
  raise_floors();
}

void lane_set::launch(const graph& g) { g.launch(origin_); }

}  // namespace starling::stf
