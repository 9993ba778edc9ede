// The memory of one place, a device or the host, as a context uses it: blocks cut from a few large allocations, whose
// reuse is ordered by sync points instead of waits. Freeing and allocating never block. Thread-safe.
//
// In check mode each block is an allocation of its own, so that blocks lie apart and end where their data ends, and is
// used again for blocks of the same size alone. Names tell messages whose a block is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "slab.hpp"
#include "starling/machine/access_scope.hpp"
#include "starling/machine/machine.hpp"
#include "stf/order/sync_point.hpp"

namespace starling::stf {

struct memory_block {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
};

class place_memory {
 public:
  // Starts of blocks are multiples of this, and so are sizes outside of check mode.
  static constexpr std::size_t alignment = 256;

  // `cap`: most bytes taken from the source; 0: what there is. A cap is taken in one piece at first use.
  place_memory(machine m, std::size_t cap, slab_source source);

  // A block of at least `bytes`, cut from the smallest free one that holds it; what has to be over before it is used is
  // added to `before`. Nothing when it does not fit.
  std::optional<memory_block> allocate(std::size_t bytes, sync_point_list& before);
  // What messages of check mode call it.
  void name(const memory_block& b, const std::string& name);
  // Its users are over after `uses`.
  void free(const memory_block& b, const sync_point_list& uses);
  // Gives allocations of which nothing is in use back to the source; `over` tells whether sync points are.
  void trim(const std::function<bool(const sync_point_list&)>& over);

  struct usage {
    std::size_t reserved = 0;  // from the source
    std::size_t in_use = 0;    // by blocks
    std::size_t most_in_use = 0;
    std::size_t largest_free = 0;  // of the free blocks
    std::size_t cap = 0;
    std::uint64_t changes = 0;  // blocks allocated and freed so far
  };
  usage used() const;
  // Whether the source is an allocator of the user; and what that said when it had no more, the last time that it was
  // asked.
  bool of_user() const { return source_.of_user; }
  std::string refusal() const;

 private:
  struct free_block {
    std::size_t bytes;
    std::size_t slab;
    sync_point_list uses;
  };
  using free_map = std::map<std::byte*, free_block>;

  bool grow(std::size_t bytes);                       // the lock is held
  void insert(std::byte* start, free_block b);        // joins neighbours; the lock is held
  void erase(free_map::iterator b);                   // the lock is held
  std::size_t slab_of(const std::byte* start) const;  // the lock is held
  std::size_t largest_free() const;                   // the lock is held

  machine machine_;
  std::size_t cap_;
  const slab_source source_;
  const bool checked_;  // in check mode
  mutable std::mutex mutex_;
  std::vector<slab> slabs_;
  free_map free_;
  std::set<std::pair<std::size_t, std::byte*>> by_size_;
  std::map<std::byte*, std::pair<std::string, named_memory>> names_;
  usage used_;
  std::string refusal_;
};

}  // namespace starling::stf
