// How a kernel asks for the agent own_warp: on GPUs the warp is compiled into an entry of its own, which only kernels
// that ask have.
#pragma once

#include "starling/machine/kernel.hpp"

namespace starling {

// A kernel for region::programs that any agent may send for: as F with all others. Regions with the agent own_warp take
// such kernels alone.
template <kernel_function F>
struct with_own_warp {
  static constexpr int max_threads = target::most_threads<F>;
  static constexpr int least_blocks = target::least_blocks<F>;
  static constexpr bool one_thread_on_host = target::one_thread_on_host<F>;
  static constexpr bool whole_warps = target::for_whole_warps<F>;

  F f;
  STARLING_HD void operator()(block& b) const { f(b); }
};
template <class F>
with_own_warp(F) -> with_own_warp<F>;

namespace region_words {

template <class F>
inline constexpr bool asks_for_own_warp = false;
template <class F>
inline constexpr bool asks_for_own_warp<with_own_warp<F>> = true;

}  // namespace region_words

}  // namespace starling
