// What processes have freed of memory that is all of theirs: it is free when every one of them has. They tell each
// other at their next collective allocation, so that all hand out the same offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace starling {

class released_memory {
 public:
  void add(std::size_t offset) {
    const std::lock_guard lock(mutex_);
    untold_.push_back(offset);
  }
  // Up to so many that the others do not know yet.
  std::vector<std::uint64_t> take(std::size_t most) {
    const std::lock_guard lock(mutex_);
    const auto end = untold_.begin() + static_cast<std::ptrdiff_t>(std::min(most, untold_.size()));
    std::vector<std::uint64_t> told(untold_.begin(), end);
    untold_.erase(untold_.begin(), end);
    return told;
  }
  // A process has told it; whether it is the last one of so many.
  bool note(std::uint64_t offset, int processes) {
    if (++told_[offset] < processes) return false;
    told_.erase(offset);
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::uint64_t> untold_;
  std::map<std::uint64_t, int> told_;  // how many processes, by offset; of the thread that allocates
};

}  // namespace starling
