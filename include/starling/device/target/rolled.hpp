// What keeps a compiler from spending registers and code: a loop that stays one, numbers that it cannot foresee.
#pragma once

#include "pass.hpp"
#include "starling/base/index.hpp"

namespace starling::target {

// f(begin), f(begin + 1), ... f(end - 1). The body is there once, for loops that are rare or short.
template <class F>
STARLING_HD void rolled(index_t begin, index_t end, const F& f) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (index_t i = begin; i < end; ++i) f(i);
}

// These stay as they are. What depends on them is computed behind this, not long before and kept in registers.
STARLING_HD inline void unforeseen([[maybe_unused]] index_range& a, [[maybe_unused]] index_range& b) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(a.begin), "+l"(a.end), "+l"(b.begin), "+l"(b.end));
#endif
}
STARLING_HD inline index_t unforeseen(index_t a) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(a));
#endif
  return a;
}

}  // namespace starling::target
