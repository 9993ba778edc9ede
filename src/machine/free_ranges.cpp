#include "free_ranges.hpp"

#include <algorithm>
#include <iterator>

namespace starling {

std::optional<std::size_t> free_ranges::find(std::size_t bytes) const {
  for (const auto& [offset, room] : free_)
    if (room >= bytes) return offset;
  return std::nullopt;
}

void free_ranges::take(std::size_t offset, std::size_t bytes) {
  const auto part = free_.find(offset);
  const std::size_t room = part->second;
  free_.erase(part);
  if (room > bytes) free_.emplace(offset + bytes, room - bytes);
}

void free_ranges::give(std::size_t offset, std::size_t bytes) {
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(offset, bytes);
}

std::size_t free_ranges::largest() const {
  std::size_t most = 0;
  for (const auto& [offset, bytes] : free_) most = std::max(most, bytes);
  return most;
}

}  // namespace starling
