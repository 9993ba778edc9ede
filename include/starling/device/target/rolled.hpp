// A loop that stays one: the opposite of `unrolled`.
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

}  // namespace starling::target
