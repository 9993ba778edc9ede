#include "symmetric_heap.hpp"

#include <mutex>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {
constexpr index_t alignment = 256;
}

symmetric_heap::symmetric_heap(const layout& where, commit_function commit)
    : where_(where), commit_(std::move(commit)), free_(where.capacity) {}

std::size_t symmetric_heap::allocate(std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  // What cannot fit anyway is not rounded: that might overflow.
  const std::size_t wanted =
      bytes > where_.capacity ? bytes : round_up(static_cast<index_t>((bytes == 0 ? 1 : bytes) + guard_), alignment);
  const auto found = free_.find(wanted);
  expect<memory_error>(found.has_value(), "symmetric memory: ", format_bytes(wanted), " asked for on each of ",
                       where_.n_pes, " PEs, but the largest free piece is ", format_bytes(free_.largest()), " (",
                       format_bytes(in_use_), " of ", format_bytes(where_.capacity), " in use",
                       where_.sharers.empty() ? "" : "; " + where_.sharers,
                       "); free other arrays, use more devices, or on virtual devices raise STARLING_HOST_MEMORY");
  const std::size_t offset = *found;
  if (offset + wanted > committed_) {
    commit_(offset + wanted);
    committed_ = offset + wanted;
  }
  free_.take(offset, wanted);
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
  in_use_ -= found->second.taken;
  free_.give(found->first, found->second.taken);
  live_.erase(found);
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
  return {where_.capacity, in_use_, free_.largest()};
}

}  // namespace starling
