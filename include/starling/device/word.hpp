// Words of memory that waits look at: 4 or 8 bytes. A wait compares in the word's own type, so its request says which
// that is; values travel widened to 8 bytes, with the sign of what has one.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "starling/base/index.hpp"
#include "starling/device/signal.hpp"
#include "starling/device/target.hpp"

namespace starling {

// What a wait may compare: whole numbers of 4 or 8 bytes.
template <class T>
concept waitable_word = std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8);

// What may be its own flag: anything of 4 or 8 bytes that can be copied, looked at bit by bit.
template <class T>
concept flag_word = std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

enum class word_kind : std::int32_t { unsigned_8, signed_8, unsigned_4, signed_4, bits_8, bits_4 };

constexpr std::size_t bytes_of(word_kind k) {
  return k == word_kind::unsigned_8 || k == word_kind::signed_8 || k == word_kind::bits_8 ? 8 : 4;
}
constexpr bool is_signed(word_kind k) { return k == word_kind::signed_8 || k == word_kind::signed_4; }
constexpr bool is_bits(word_kind k) { return k == word_kind::bits_8 || k == word_kind::bits_4; }

template <flag_word T>
constexpr word_kind kind_of() {
  constexpr bool wide = sizeof(T) == 8;
  if constexpr (!std::is_integral_v<T>) return wide ? word_kind::bits_8 : word_kind::bits_4;
  if constexpr (std::is_signed_v<T>) return wide ? word_kind::signed_8 : word_kind::signed_4;
  return wide ? word_kind::unsigned_8 : word_kind::unsigned_4;
}

template <std::size_t Bytes>
using bits_of_size = std::conditional_t<Bytes == 8, std::uint64_t, std::uint32_t>;

template <flag_word T>
constexpr std::uint64_t widened(const T& value) {
  if constexpr (!std::is_integral_v<T>)
    return std::bit_cast<bits_of_size<sizeof(T)>>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  else
    return static_cast<std::uint64_t>(value);
}

// Whether `seen` compares to `wanted`, both widened, as words of this kind.
constexpr bool holds(word_kind k, std::uint64_t seen, compare how, std::uint64_t wanted) {
  if (is_signed(k)) return holds_as(static_cast<std::int64_t>(seen), how, static_cast<std::int64_t>(wanted));
  return holds_as(seen, how, wanted);
}

// How a wait that has a time of its own ended.
enum class wait_status : std::int32_t { came, timed_out };

// What calls for any of several words return when it is none of them.
inline constexpr index_t no_index = -1;

// Nanoseconds of a time that a caller gave in seconds: at least 1, and no more than 30 years.
constexpr std::uint64_t limit_in_ns(double seconds) {
  constexpr double most = 1e9;
  if (!(seconds > 0)) return 1;
  return static_cast<std::uint64_t>((seconds < most ? seconds : most) * 1e9) + 1;
}

}  // namespace starling
