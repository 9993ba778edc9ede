// The bookkeeping of symmetric memory: one offset allocator for all PEs, whose ranges of equal size lie at one fixed
// stride. The back end supplies the address range and, through `commit`, the memory behind it. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "free_ranges.hpp"
#include "starling/base/index.hpp"
#include "starling/machine/device_info.hpp"

namespace starling {

class symmetric_heap {
 public:
  struct layout {
    std::byte* start = nullptr;  // of PE 0
    index_t stride = 0;          // bytes between PEs
    int n_pes = 0;
    std::size_t capacity = 0;  // bytes per PE, at most stride
    std::string sharers = {};  // for errors, who else has memory of the GPU; empty: nobody
  };

  // Called with a growing end offset before memory up to there is handed out, on every PE alike; may throw
  // memory_error.
  using commit_function = std::function<void(std::size_t end)>;

  symmetric_heap() = default;
  symmetric_heap(const layout& where, commit_function commit);

  // Bytes are rounded up to 256, the alignment of every allocation. Throws memory_error with the sizes.
  std::size_t allocate(std::size_t bytes);
  void free(std::size_t offset);

  // Whether [address, address + bytes) lies in one live allocation of PE `pe`, within the bytes that were asked for.
  bool contains(const void* address, std::size_t bytes, int pe) const;
  // Whether the address lies in the range of any PE at all, live or not.
  bool in_range(const void* address) const;

  // Offset and bytes asked for of all live allocations, by offset.
  std::vector<std::pair<std::size_t, std::size_t>> live() const;
  // Allocations from now on are followed by at least so many bytes that belong to none.
  void set_guard(std::size_t bytes) { guard_ = bytes; }

  memory_info info() const;
  const layout& where() const { return where_; }
  std::byte* on(std::size_t offset, int pe) const { return where_.start + pe * where_.stride + offset; }

 private:
  layout where_;
  commit_function commit_;
  mutable std::shared_mutex mutex_;
  struct allocation {
    std::size_t asked;
    std::size_t taken;  // asked, rounded up
  };
  std::map<std::size_t, allocation> live_;  // by offset
  free_ranges free_;
  std::size_t committed_ = 0;
  std::size_t in_use_ = 0;
  std::size_t guard_ = 0;
};

}  // namespace starling
