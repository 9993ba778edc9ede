// The memory of one queue pair, as the host makes it: ring, completions, records, doorbell and staging, with templates
// in all slots.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "starling/device/network/queue_pair.hpp"

namespace starling::network {

// What data that the card does not reach passes through. The first 64 bytes are for answers of atomic operations.
inline constexpr std::uint32_t staging_bytes = 4096 + 64;
inline constexpr std::uint32_t answer_bytes = 64;

class queue_memory {
 public:
  // `machine`: the regions of all PEs, and behind them those shared. The staging memory becomes one more.
  queue_memory(const std::vector<memory_region>& machine, int pes, std::uint32_t number, std::uint32_t depth, int pe,
               int peer, std::uint64_t first)
      : ring_(depth), kept_(depth), completions_(depth), staging_(staging_bytes), regions_(machine) {
    pair_.staging_key = static_cast<std::uint32_t>(regions_.size()) + 1;
    regions_.push_back(
        {reinterpret_cast<std::uintptr_t>(staging_.data()), staging_bytes, pair_.staging_key, may_read | may_write});
    pair_.ring = ring_.data();
    pair_.kept = kept_.data();
    pair_.completions = completions_.data();
    pair_.record = &words_.record;
    pair_.doorbell = &words_.doorbell;
    pair_.completion_record = &words_.completion_record;
    pair_.state = &state_;
    pair_.staging = staging_.data();
    pair_.staging_bytes = staging_bytes;
    pair_.number = number;
    pair_.depth = depth;
    pair_.pe = pe;
    pair_.peer = peer;
    pair_.memory = {regions_.data(), pes, static_cast<int>(regions_.size())};
    pair_.own = regions_[static_cast<std::size_t>(pe)];
    pair_.at_peer = regions_[static_cast<std::size_t>(peer)];
    prepare(pair_, first);
  }
  queue_memory(const queue_memory&) = delete;
  queue_memory& operator=(const queue_memory&) = delete;

  const queue_pair& pair() const { return pair_; }

 private:
  struct alignas(64) shared_words {
    std::uint64_t record = 0;
    std::uint64_t doorbell = 0;
    std::uint64_t completion_record = 0;
  };

  std::vector<entry> ring_;
  std::vector<std::uint8_t> kept_;
  std::vector<completion> completions_;
  std::vector<std::byte> staging_;
  std::vector<memory_region> regions_;
  shared_words words_;
  queue_state state_;
  queue_pair pair_;
};

}  // namespace starling::network
