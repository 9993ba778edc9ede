// Copies of what a block puts, in memory that the card reaches: a blocking put of little data need not wait until the
// card has read its source. Of one queue; taken in turn, and free again when the card has done the entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>

#include "starling/device/network/queue_pair.hpp"

namespace starling::host {

class source_copies {
 public:
  static constexpr std::size_t most_bytes = std::size_t{8} << 10;  // of one source

  network::memory_region region(std::uint32_t key) const {
    return {reinterpret_cast<std::uintptr_t>(memory_.get()), all_bytes, key, network::may_read};
  }

  // A copy; null: there is no room. `done`: the card has done all entries before that number.
  const std::byte* take(const void* source, std::size_t bytes, std::uint64_t done) {
    while (!used_.empty() && used_.front().end <= done) used_.pop_front();
    if (used_.empty()) next_ = 0;
    if (!fits(bytes)) return nullptr;
    std::byte* copy = memory_.get() + next_;
    std::memcpy(copy, source, bytes);
    used_.push_back({next_, ~std::uint64_t{0}});
    next_ += bytes;
    return copy;
  }
  // The last copy is read by entries before this number.
  void used_before(std::uint64_t end) { used_.back().end = end; }

 private:
  static constexpr std::size_t all_bytes = std::size_t{64} << 10;

  struct piece {
    std::size_t begin;
    std::uint64_t end;
  };

  // Behind the last one, or at the start, but not over the oldest one.
  bool fits(std::size_t bytes) {
    if (used_.empty()) return bytes <= all_bytes;
    const std::size_t oldest = used_.front().begin;
    if (next_ <= oldest) return bytes <= oldest - next_;
    if (bytes <= all_bytes - next_) return true;
    if (bytes > oldest) return false;
    next_ = 0;
    return true;
  }

  std::unique_ptr<std::byte[]> memory_ = std::make_unique_for_overwrite<std::byte[]>(all_bytes);
  std::size_t next_ = 0;
  std::deque<piece> used_;  // oldest first
};

}  // namespace starling::host
