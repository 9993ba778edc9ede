// How the threads of a group move bytes on a GPU: 16 at a time where both ends allow it; one word so that who waits for
// it sees it.
#pragma once

#include "starling/base/index.hpp"
#include "starling/device/gpu_wait.hpp"
#include "starling/device/target.hpp"
#include "starling/device/word.hpp"

namespace starling::gpu {

// Copies n elements; `member` of `members` threads takes its part. No barrier. dest and source do not overlap.
template <class T>
STARLING_HD void copy(int member, int members, T* dest, const T* source, index_t n) {
  const auto misaligned = (reinterpret_cast<std::uintptr_t>(dest) | reinterpret_cast<std::uintptr_t>(source)) % 16;
  if (misaligned != 0 || 16 % sizeof(T) != 0) {
    for (index_t i = member; i < n; i += members) dest[i] = source[i];
    return;
  }
  constexpr index_t per_vector = sizeof(T) <= 16 ? 16 / sizeof(T) : 1;
  const index_t vectors = n / per_vector;
  auto* to = reinterpret_cast<target::vector16*>(dest);
  auto* from = reinterpret_cast<const target::vector16*>(source);
  index_t i = member;
  for (; i + 3 * members < vectors; i += 4 * members) {  // four loads in flight
    const target::vector16 a = target::load16(from + i);
    const target::vector16 b = target::load16(from + i + members);
    const target::vector16 c = target::load16(from + i + 2 * members);
    const target::vector16 d = target::load16(from + i + 3 * members);
    target::store16(to + i, a);
    target::store16(to + i + members, b);
    target::store16(to + i + 2 * members, c);
    target::store16(to + i + 3 * members, d);
  }
  for (; i < vectors; i += members) target::store16(to + i, target::load16(from + i));
  for (index_t k = vectors * per_vector + member; k < n; k += members) dest[k] = source[k];
}

// Writes one element. Words of 4 and 8 bytes are written by an atomic store of system scope, relaxed: others may wait
// for them, and an ordinary store that they race with would be a data race.
template <class T>
STARLING_HD void store_word(T* dest, const T& value) {
  if constexpr (flag_word<T> && alignof(T) == sizeof(T)) {
    using bits = bits_of_size<sizeof(T)>;
    system_atomic(*reinterpret_cast<bits*>(dest)).store(std::bit_cast<bits>(value), cuda::memory_order_relaxed);
  } else {
    *dest = value;
  }
}

}  // namespace starling::gpu
