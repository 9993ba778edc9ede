// Copies of 16 bytes from global to shared memory that a thread starts and goes on; for that thread alone.
#pragma once

#include <cstring>

#include "pass.hpp"

namespace starling::target {

STARLING_HD inline void copy_ahead(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
      "l"(__cvta_generic_to_global(global))
      : "memory");
#else
  std::memcpy(shared, global, 16);
#endif
}

// Ends a batch of them.
STARLING_HD inline void copies_started() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Returns when all batches but the last N are there.
template <int N>
STARLING_HD void copies_done() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

}  // namespace starling::target
