// The bookkeeping of local memory: which parts of one range of addresses are taken, and on which PEs their pieces lie.
// The back end supplies the addresses and the memory behind them. Thread-safe.
#pragma once

#include <map>
#include <shared_mutex>
#include <vector>

#include "free_ranges.hpp"
#include "starling/machine/local_memory.hpp"

namespace starling {

class local_heap {
 public:
  // home(): the address lies in no allocation.
  static constexpr int nowhere = -3;

  struct allocation {
    std::byte* start;
    std::size_t bytes;
    std::vector<placed_bytes> pieces;
  };

  local_heap() = default;
  // Allocations start at multiples of `unit` bytes and take whole units.
  local_heap(std::byte* start, std::size_t bytes, std::size_t unit);

  // Addresses for all pieces, one behind the other. Throws memory_error when there is no gap as large.
  std::byte* allocate(const std::vector<placed_bytes>& pieces);
  // The allocation is no longer live; its addresses stay taken until free().
  void retire(std::byte* start);
  // The addresses may be handed out again; what lay there. Nothing was there: no pieces.
  allocation free(std::byte* start);

  bool in_range(const void* address) const {
    const auto* wanted = static_cast<const std::byte*>(address);
    return wanted >= start_ && wanted < start_ + bytes_;
  }
  // Whether [address, address + bytes) lies in one live allocation.
  bool contains(const void* address, std::size_t bytes) const;
  // The PE whose memory the address is, host_place, or nowhere.
  int home(const void* address) const;

  // Bytes of live allocations on a PE, or host_place, as they were asked for.
  std::size_t in_use(int place) const;
  // The most that any PE has in use.
  std::size_t most_in_use() const;
  std::vector<allocation> live() const;
  // Those that are retired too.
  std::vector<allocation> taken() const;
  // Of an allocation that is taken; none for other addresses.
  std::vector<placed_bytes> pieces_of(std::byte* start) const;
  // Allocations from now on are followed by at least so many bytes that belong to none, and by as many as they have
  // themselves up to `most`.
  void set_guard(std::size_t least, std::size_t most) {
    guard_ = least;
    most_guard_ = most;
  }

  std::byte* start() const { return start_; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct entry {
    std::size_t bytes;
    std::size_t taken;  // bytes and guard in whole units
    std::vector<placed_bytes> pieces;
    bool live;
  };
  // The live allocation that begins nearest before the address. The lock is held.
  std::map<std::size_t, entry>::const_iterator find(const void* address) const;

  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t unit_ = 1;
  std::size_t guard_ = 0;
  std::size_t most_guard_ = 0;
  mutable std::shared_mutex mutex_;
  std::map<std::size_t, entry> taken_;  // by offset
  free_ranges free_;
  std::map<int, std::size_t> in_use_;  // by place
};

}  // namespace starling
