// Eight bytes that travel with the number of their message: data that is its own signal.
#pragma once

#include <cstdint>

#include "pass.hpp"

namespace starling::target {

// Eight bytes of data with the number of the message that they belong to, in one access of 16 bytes, visible to every
// device, relaxed. On a GPU each half of the data lies in one word of 8 bytes with the lower half of the number: words
// are never torn, whole accesses of 16 bytes are (PTX: a vector access is several accesses; a b128 load was seen on
// H200 to return a new upper half with an old lower one). So numbers compare by their lower halves.
struct numbered {
  std::uint64_t data;
  std::uint64_t number;
};

// The two words of 8 bytes, which may also be written one after the other.
struct numbered_words {
  std::uint64_t low;
  std::uint64_t high;
};
STARLING_HD constexpr numbered_words words_of_numbered(numbered v) {
  const std::uint64_t number = v.number << 32;
  return {number | (v.data & 0xffffffffu), number | (v.data >> 32)};
}

STARLING_HD inline void store_numbered(void* to, numbered v) {
#if defined(__CUDA_ARCH__)
  const numbered_words w = words_of_numbered(v);
  asm volatile("st.relaxed.sys.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(w.low), "l"(w.high) : "memory");
#else
  *static_cast<numbered*>(to) = v;
#endif
}

// The number is `wanted` when all of the data is that message's, and another otherwise.
STARLING_HD inline numbered load_numbered(const void* from, [[maybe_unused]] std::uint64_t wanted) {
#if defined(__CUDA_ARCH__)
  std::uint64_t low, high;
  asm volatile("ld.relaxed.sys.v2.b64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(from) : "memory");
  const auto of_low = static_cast<std::uint32_t>(low >> 32);
  const auto of_high = static_cast<std::uint32_t>(high >> 32);
  const auto awaited = static_cast<std::uint32_t>(wanted);
  const bool all = of_low == awaited && of_high == awaited;
  return {(low & 0xffffffffu) | high << 32, all ? wanted : of_low == awaited ? of_high : of_low};
#else
  return *static_cast<const numbered*>(from);
#endif
}

}  // namespace starling::target
