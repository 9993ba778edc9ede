#include "local_heap.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling {

local_heap::local_heap(std::byte* start, std::size_t bytes, std::size_t unit)
    : start_(start), bytes_(bytes), unit_(unit), free_(bytes) {}

std::byte* local_heap::allocate(const std::vector<placed_bytes>& pieces) {
  std::size_t bytes = 0;
  for (const placed_bytes& p : pieces) bytes += p.bytes;
  const std::unique_lock lock(mutex_);
  // What cannot fit anyway is not rounded: that might overflow.
  const std::size_t guard = std::max(guard_, std::min(bytes, most_guard_));
  const std::size_t wanted = bytes > bytes_ ? bytes : (bytes + guard + unit_ - 1) / unit_ * unit_;
  const auto offset = free_.find(wanted);
  expect<memory_error>(offset.has_value(), "local memory: ", format_bytes(wanted),
                       " of addresses needed, but the largest gap between live allocations is ",
                       format_bytes(free_.largest()), "; free some, or ask for smaller pieces");
  taken_.emplace(*offset, entry{bytes, wanted, pieces, true});
  free_.take(*offset, wanted);
  for (const placed_bytes& p : pieces) in_use_[p.pe] += p.bytes;
  return start_ + *offset;
}

void local_heap::retire(std::byte* start) {
  const std::unique_lock lock(mutex_);
  const auto found = taken_.find(static_cast<std::size_t>(start - start_));
  if (found != taken_.end()) found->second.live = false;
}

local_heap::allocation local_heap::free(std::byte* start) {
  const std::unique_lock lock(mutex_);
  const auto found = taken_.find(static_cast<std::size_t>(start - start_));
  if (found == taken_.end()) return {start, 0, {}};
  allocation gone{start, found->second.bytes, std::move(found->second.pieces)};
  for (const placed_bytes& p : gone.pieces) in_use_[p.pe] -= p.bytes;
  free_.give(found->first, found->second.taken);
  taken_.erase(found);
  return gone;
}

std::map<std::size_t, local_heap::entry>::const_iterator local_heap::find(const void* address) const {
  if (!in_range(address)) return taken_.end();
  auto after = taken_.upper_bound(static_cast<std::size_t>(static_cast<const std::byte*>(address) - start_));
  if (after == taken_.begin()) return taken_.end();
  --after;
  return after->second.live ? after : taken_.end();
}

bool local_heap::contains(const void* address, std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  const auto found = find(address);
  if (found == taken_.end()) return false;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - start_) - found->first;
  return offset <= found->second.bytes && bytes <= found->second.bytes - offset;
}

int local_heap::home(const void* address) const {
  const std::shared_lock lock(mutex_);
  const auto found = find(address);
  if (found == taken_.end()) return nowhere;
  auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - start_) - found->first;
  for (const placed_bytes& p : found->second.pieces) {
    if (offset < p.bytes) return p.pe;
    offset -= p.bytes;
  }
  return nowhere;
}

std::size_t local_heap::in_use(int place) const {
  const std::shared_lock lock(mutex_);
  const auto found = in_use_.find(place);
  return found == in_use_.end() ? 0 : found->second;
}

std::size_t local_heap::most_in_use() const {
  const std::shared_lock lock(mutex_);
  std::size_t most = 0;
  for (const auto& [place, bytes] : in_use_)
    if (place != host_place) most = std::max(most, bytes);
  return most;
}

std::vector<local_heap::allocation> local_heap::live() const {
  const std::shared_lock lock(mutex_);
  std::vector<allocation> all;
  for (const auto& [offset, what] : taken_)
    if (what.live) all.push_back({start_ + offset, what.bytes, what.pieces});
  return all;
}

std::vector<local_heap::allocation> local_heap::taken() const {
  const std::shared_lock lock(mutex_);
  std::vector<allocation> all;
  for (const auto& [offset, what] : taken_) all.push_back({start_ + offset, what.bytes, what.pieces});
  return all;
}

std::vector<placed_bytes> local_heap::pieces_of(std::byte* start) const {
  const std::shared_lock lock(mutex_);
  const auto found = taken_.find(static_cast<std::size_t>(start - start_));
  return found == taken_.end() ? std::vector<placed_bytes>() : found->second.pieces;
}

}  // namespace starling
