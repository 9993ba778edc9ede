// The threads of a block: their numbers, and the barriers and votes of a block, a warp and parts of either.
#pragma once

#include <cstdint>
#include <exception>

#include "pass.hpp"

namespace starling::target {

STARLING_HD inline int thread_index() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(threadIdx.x);
#else
  return 0;
#endif
}

STARLING_HD inline int thread_count() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(blockDim.x);
#else
  return 1;
#endif
}

STARLING_HD inline int block_index() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(blockIdx.x);
#else
  return 0;
#endif
}

// Block barrier; orders the memory accesses of its threads.
STARLING_HD inline void sync_block() {
#if defined(__CUDA_ARCH__)
  __syncthreads();
#endif
}

// Block barrier that tells every thread how many of them passed true. Threads that have ended do not count.
STARLING_HD inline int sync_block_count(bool value) {
#if defined(__CUDA_ARCH__)
  return __syncthreads_count(value);
#else
  return value ? 1 : 0;
#endif
}

STARLING_HD inline void sync_warp() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

// As sync_block_count, of the warp. A vote waits for the lanes that have not ended, and the others' bits are zero.
STARLING_HD inline int sync_warp_count(bool value) {
#if defined(__CUDA_ARCH__)
  return __popc(__ballot_sync(0xffffffffu, value));
#else
  return value ? 1 : 0;
#endif
}

// Of this warp's lanes those that pass true, a bit each; a barrier of the warp.
STARLING_HD inline unsigned lanes_where(bool value) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(0xffffffffu, value);
#else
  return value ? 1u : 0u;
#endif
}

// Barriers of a part of a block that has not lost threads: of the lanes of a warp whose bits are set, and of `threads`
// threads, a multiple of 32, that all name the same number from 1 to 15.
STARLING_HD inline void sync_lanes([[maybe_unused]] unsigned lanes) {
#if defined(__CUDA_ARCH__)
  __syncwarp(lanes);
#endif
}

STARLING_HD inline void sync_part([[maybe_unused]] int number, [[maybe_unused]] int threads) {
#if defined(__CUDA_ARCH__)
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
#endif
}

// The lanes of a warp together again. Where the compiler cannot know that they are, behind a branch of some of them
// with a call in it, it guards every shuffle, which a barrier spares. Has the barriers sync_part names after warps.
STARLING_HD inline void join_warp() {
#if defined(__CUDA_ARCH__)
  sync_part(1 + static_cast<int>(threadIdx.x) / 32, 32);
#endif
}

// Whether an exception is ending the calling function.
STARLING_HD inline bool unwinding() {
#if defined(__CUDA_ARCH__)
  return false;
#else
  return std::uncaught_exceptions() > 0;
#endif
}

// Ends the calling thread. Barriers of the block do not wait for threads that have ended.
STARLING_HD inline void exit_thread() {
#if defined(__CUDA_ARCH__)
  asm volatile("exit;");
#endif
}

// Number of the highest bit set; x > 0.
STARLING_HD inline int log2_floor(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return 31 - __clz(static_cast<int>(x));
#else
  return 31 - __builtin_clz(x);
#endif
}

}  // namespace starling::target
