// Values that go from lane to lane of a warp.
#pragma once

#include <bit>

#include "pass.hpp"

namespace starling::target {

#if defined(__CUDA_ARCH__)
// Moves a value through lanes, 4 bytes at a time. Nothing has its address taken, so that all stays in registers.
template <int N>
struct words_of {
  unsigned word[N];
};
template <class T, class Move>
__device__ T move_words(T value, const Move& move) {
  static_assert(sizeof(T) % 4 == 0);
  auto words = std::bit_cast<words_of<sizeof(T) / 4>>(value);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T) / 4); ++i) words.word[i] = move(words.word[i]);
  return std::bit_cast<T>(words);
}
#endif

// The value of the lane `delta` above this one (whole warp takes part); T is trivially copyable, a multiple of 4 bytes.
template <class T>
STARLING_HD T shuffle_down(const T& value, [[maybe_unused]] int delta) {
#if defined(__CUDA_ARCH__)
  return move_words(value, [delta](unsigned w) { return __shfl_down_sync(0xffffffffu, w, delta); });
#else
  return value;
#endif
}

// The value of the lane `delta` below this one, likewise.
template <class T>
STARLING_HD T shuffle_up(const T& value, [[maybe_unused]] int delta) {
#if defined(__CUDA_ARCH__)
  return move_words(value, [delta](unsigned w) { return __shfl_up_sync(0xffffffffu, w, delta); });
#else
  return value;
#endif
}

// The value of the lane whose number differs from this one's in the bits of `mask`.
template <class T>
STARLING_HD T shuffle_xor(const T& value, [[maybe_unused]] int mask) {
#if defined(__CUDA_ARCH__)
  return move_words(value, [mask](unsigned w) { return __shfl_xor_sync(0xffffffffu, w, mask); });
#else
  return value;
#endif
}

// The value of lane 0 of this warp. The compiler knows that all lanes have it, and that branches on it keep them
// together.
template <class T>
STARLING_HD T shuffle_first(const T& value) {
#if defined(__CUDA_ARCH__)
  return move_words(value, [](unsigned w) { return __shfl_sync(0xffffffffu, w, 0); });
#else
  return value;
#endif
}

}  // namespace starling::target
