// held_memory: what tasks that are recorded for many launches have let go of. Nobody else may have it until the graph
// is gone, since each launch uses it again. Thread-safe.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "starling/stf/place.hpp"
#include "stf/memory/place_memory.hpp"

namespace starling::stf {

class held_memory {
 public:
  struct block {
    data_place place;
    memory_block memory;
  };

  void keep(const data_place& place, const memory_block& b) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back({place, b});
  }
  // Of composite instances, and of the user.
  struct range {
    local_memory pages;
    pinned_memory pin;
  };
  void keep(range r) {
    const std::lock_guard lock(mutex_);
    ranges_.push_back(std::move(r));
  }
  std::vector<block> take_blocks() {
    const std::lock_guard lock(mutex_);
    return std::exchange(blocks_, {});
  }
  std::vector<range> take_ranges() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ranges_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<block> blocks_;
  std::vector<range> ranges_;
};

}  // namespace starling::stf
