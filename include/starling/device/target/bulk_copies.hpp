// Bulk copies: by the multiprocessor's copy engine, between global memory (of any device) and the block's shared
// memory. Addresses and sizes are multiples of 16. All of a copy's calls are made by one thread.
#pragma once

#include <cstdint>

#include "pass.hpp"

namespace starling::target {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool has_bulk_copies = true;
#else
inline constexpr bool has_bulk_copies = false;
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
#endif

// A barrier word, in shared memory, on which the arrival of bytes is waited for: one load at a time.
STARLING_HD inline void bulk_begin([[maybe_unused]] std::uint64_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// Orders ordinary accesses of this thread before bulk copies that are started later, also by threads that it meets in a
// barrier in between.
STARLING_HD inline void fence_bulk() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

STARLING_HD inline void bulk_load([[maybe_unused]] void* shared, [[maybe_unused]] const void* global,
                                  [[maybe_unused]] std::uint32_t bytes, [[maybe_unused]] std::uint64_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
#endif
}

// Whether the barrier's load with this parity (0 the first, 1 the second, 0 the third ...) has ended; may wait a
// little.
STARLING_HD inline bool bulk_loaded([[maybe_unused]] std::uint64_t* barrier, [[maybe_unused]] std::uint32_t parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  std::uint32_t yes;
  asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
               : "=r"(yes)
               : "r"(shared_address(barrier)), "r"(parity)
               : "memory");
  return yes != 0;
#else
  return true;
#endif
}

STARLING_HD inline void bulk_store([[maybe_unused]] void* global, [[maybe_unused]] const void* shared,
                                   [[maybe_unused]] std::uint32_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(global)),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

// Returns when all stores of this thread but the last N have read their shared memory.
template <int N>
STARLING_HD void bulk_stores_read() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
#endif
}

// Returns when all stores of this thread are done and visible to it, so that a release tells of them too.
STARLING_HD inline void bulk_stores_done() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

}  // namespace starling::target
