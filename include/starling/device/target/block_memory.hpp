// Shared memory of a block: what the library keeps there for itself, and what a kernel asks for.
#pragma once

#include <cstddef>

#include "pass.hpp"

namespace starling::target {

// 1 KB of shared memory of the block, for reductions: one slot of 32 bytes a warp.
inline constexpr int reduce_slot_bytes = 32;
STARLING_HD inline std::byte* reduce_slots() {
#if defined(__CUDA_ARCH__)
  __shared__ __align__(32) std::byte slots[32 * reduce_slot_bytes];
  return slots;
#else
  return nullptr;
#endif
}

// 32 bytes of shared memory of the block, for the recorder.
inline constexpr int trace_memory_bytes = 32;
STARLING_HD inline std::byte* trace_memory() {
#if defined(__CUDA_ARCH__)
  __shared__ __align__(16) std::byte memory[trace_memory_bytes];
  return memory;
#else
  return nullptr;
#endif
}

// 5 KB of shared memory of the block, for its queue pairs; in entries for machines of several hosts alone.
inline constexpr int network_memory_bytes = 5120;
STARLING_HD inline std::byte* network_memory() {
#if defined(__CUDA_ARCH__)
  __shared__ __align__(16) std::byte memory[network_memory_bytes];
  return memory;
#else
  return nullptr;
#endif
}

// Where the block keeps the address of the launch's state: shared memory. Every thread writes the same before it reads.
STARLING_HD inline const void** launch_state() {
#if defined(__CUDA_ARCH__)
  __shared__ const void* state;
  return &state;
#else
  return nullptr;
#endif
}

// What of a block's shared memory the functions above take.
inline constexpr int own_shared_bytes = 32 * reduce_slot_bytes + trace_memory_bytes;

// The dynamic shared memory of the block.
STARLING_HD inline std::byte* dynamic_scratch() {
#if defined(__CUDA_ARCH__)
  extern __shared__ __align__(16) std::byte starling_dynamic_scratch[];
  return starling_dynamic_scratch;
#else
  return nullptr;
#endif
}

}  // namespace starling::target
