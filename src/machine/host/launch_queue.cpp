#include "launch_queue.hpp"

#include <utility>

namespace starling::host {

bool launch_queue::add(const kernel_launch& k) {
  {
    const std::lock_guard lock(mutex_);
    if (launches_.size() == most_) return false;
    launches_.push_back(k);
    any_.store(launches_.size());
  }
  lot_.wake(&any_);
  return true;
}

void launch_queue::launcher_over() {
  if (launchers_.fetch_sub(1) == 1) lot_.wake(&any_);
}

std::optional<kernel_launch> launch_queue::try_take() {
  const std::lock_guard lock(mutex_);
  if (launches_.empty()) return std::nullopt;
  std::optional<kernel_launch> first(std::move(launches_.front()));
  launches_.pop_front();
  any_.store(launches_.size());
  return first;
}

}  // namespace starling::host
