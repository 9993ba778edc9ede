// How a block's loads and stores come to the memory that it shares with a card. A sender is made for a bus; check mode
// has another one, which is slower to let the card see what has been stored.
#pragma once

#include "starling/device/gpu_wait.hpp"
#include "starling/device/network/card_trace.hpp"

namespace starling::network {

class direct_bus : public records_nothing {
 public:
  // Entries and records: visible to the card after release(), or sooner.
  STARLING_HD void store(std::uint64_t& to, std::uint64_t value) const {
    gpu::system_atomic(to).store(value, cuda::memory_order_relaxed);
  }
  // Makes what the block's threads have stored so far, data too, visible to the card.
  STARLING_HD void release() const { target::release_system(); }
  // Records and doorbells, after what was released.
  STARLING_HD void tell(std::uint64_t& to, std::uint64_t value) const {
    gpu::system_atomic(to).store(value, cuda::memory_order_release);
  }
  // Words that the card writes; what it wrote before them is seen after.
  STARLING_HD std::uint64_t load(std::uint64_t& from) const {
    return gpu::system_atomic(from).load(cuda::memory_order_acquire);
  }

  // For threads of a block that share the queue's staging memory.
  STARLING_HD void lock_staging() const {}
  STARLING_HD void unlock_staging() const {}

  // Words of the queue's state, which the warps of a block share.
  template <class Word>
  STARLING_HD Word take(Word& word, Word n) const {
    return gpu::device_atomic(word).fetch_add(n, cuda::memory_order_acq_rel);
  }
  template <class Word>
  STARLING_HD Word look(Word& word) const {
    return gpu::device_atomic(word).load(cuda::memory_order_acquire);
  }
  template <class Word>
  STARLING_HD void set(Word& word, Word value) const {
    gpu::device_atomic(word).store(value, cuda::memory_order_release);
  }
  template <class Word>
  STARLING_HD Word exchange(Word& word, Word value) const {
    return gpu::device_atomic(word).exchange(value, cuda::memory_order_acq_rel);
  }
};

}  // namespace starling::network
