#include "symmetric_heap.hpp"

#include <iterator>
#include <mutex>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {
constexpr index_t alignment = 256;
}

symmetric_heap::symmetric_heap(const layout& where, commit_function commit)
    : where_(where), commit_(std::move(commit)), free_{{0, where.capacity}} {}

std::size_t symmetric_heap::largest_free() const {
  std::size_t largest = 0;
  for (const auto& [offset, bytes] : free_) largest = bytes > largest ? bytes : largest;
  return largest;
}

std::size_t symmetric_heap::allocate(std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  // What cannot fit anyway is not rounded: that might overflow.
  const std::size_t wanted =
      bytes > where_.capacity ? bytes : round_up(static_cast<index_t>((bytes == 0 ? 1 : bytes) + guard_), alignment);
  auto slot = free_.begin();
  while (slot != free_.end() && slot->second < wanted) ++slot;
  expect<memory_error>(slot != free_.end(), "symmetric memory: ", format_bytes(wanted), " asked for on each of ",
                       where_.n_pes, " PEs, but the largest free piece is ", format_bytes(largest_free()), " (",
                       format_bytes(in_use_), " of ", format_bytes(where_.capacity),
                       " in use); free other arrays, use more devices, or on virtual devices raise "
                       "STARLING_HOST_MEMORY");
  const auto [offset, room] = *slot;
  if (offset + wanted > committed_) {
    commit_(offset + wanted);
    committed_ = offset + wanted;
  }
  free_.erase(slot);
  if (room > wanted) free_.emplace(offset + wanted, room - wanted);
  live_.emplace(offset, allocation{bytes, wanted});
  in_use_ += wanted;
  return offset;
}

std::vector<std::pair<std::size_t, std::size_t>> symmetric_heap::live() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (const auto& [offset, what] : live_) all.emplace_back(offset, what.asked);
  return all;
}

void symmetric_heap::free(std::size_t offset) {
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(offset);
  if (found == live_.end()) return;
  std::size_t begin = found->first;
  std::size_t bytes = found->second.taken;
  in_use_ -= bytes;
  live_.erase(found);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && begin + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  free_.emplace(begin, bytes);
}

bool symmetric_heap::contains(const void* address, std::size_t bytes, int pe) const {
  const std::byte* start = where_.start + pe * where_.stride;
  const auto* wanted = static_cast<const std::byte*>(address);
  if (wanted < start || wanted >= start + where_.capacity) return false;
  const auto offset = static_cast<std::size_t>(wanted - start);
  const std::shared_lock lock(mutex_);
  auto after = live_.upper_bound(offset);
  if (after == live_.begin()) return false;
  --after;
  const std::size_t end = after->first + after->second.asked;
  return offset <= end && bytes <= end - offset;
}

bool symmetric_heap::in_range(const void* address) const {
  const auto* wanted = static_cast<const std::byte*>(address);
  return wanted >= where_.start && wanted < where_.start + where_.n_pes * where_.stride;
}

memory_info symmetric_heap::info() const {
  const std::shared_lock lock(mutex_);
  return {where_.capacity, in_use_, largest_free()};
}

}  // namespace starling
