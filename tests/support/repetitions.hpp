// How often a test repeats what it does.
#pragma once

#include <algorithm>
#include <concepts>

namespace starling::test {

// n, but a quarter of it under ThreadSanitizer, which slows code down ten times and sees accesses that nothing orders
// without their having to come close together.
template <std::integral N>
constexpr N repetitions(N n) {
#if defined(__SANITIZE_THREAD__)
  return std::max<N>(n / 4, 1);
#else
  return n;
#endif
}

}  // namespace starling::test
