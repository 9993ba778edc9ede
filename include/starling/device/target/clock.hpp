// Clocks.
#pragma once

#include <chrono>
#include <cstdint>

#include "pass.hpp"

namespace starling::target {

// Nanoseconds: of the GPU's global timer, or of the host's steady clock.
STARLING_HD inline std::uint64_t now_ns() {
#if defined(__CUDA_ARCH__)
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
#else
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
#endif
}

// A clock that is read in a few cycles, of the multiprocessor that runs the block; on the host the same as now_ns().
STARLING_HD inline std::uint64_t ticks() {
#if defined(__CUDA_ARCH__)
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
  return t;
#else
  return now_ns();
#endif
}

}  // namespace starling::target
