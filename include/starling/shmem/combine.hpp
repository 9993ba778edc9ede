// How the reductions of a team combine two elements, beside maximum and minimum of device/reduce.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "starling/device/reduce.hpp"
#include "starling/shmem/address.hpp"

namespace starling::shmem {

// Integers wrap around: they are added and multiplied without a sign.
struct sum {
  template <class T>
  STARLING_HD T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};
struct product {
  template <class T>
  STARLING_HD T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return a * b;
  }
};
struct bitwise_and {
  template <std::integral T>
  STARLING_HD T operator()(const T& a, const T& b) const {
    return static_cast<T>(a & b);
  }
};
struct bitwise_or {
  template <std::integral T>
  STARLING_HD T operator()(const T& a, const T& b) const {
    return static_cast<T>(a | b);
  }
};
struct bitwise_xor {
  template <std::integral T>
  STARLING_HD T operator()(const T& a, const T& b) const {
    return static_cast<T>(a ^ b);
  }
};

// Numbers; for sum and product also types with operators of their own, such as complex numbers.
template <class Op, class T>
concept combines = std::is_trivially_copyable_v<T> && std::is_invocable_r_v<T, const Op&, const T&, const T&> &&
                   (std::is_arithmetic_v<T> || (std::is_same_v<Op, sum> && requires(const T& a) { T(a + a); }) ||
                    (std::is_same_v<Op, product> && requires(const T& a) { T(a * a); }));

// The address of elements that it combines.
template <class Address, class Op>
concept combined_by = symmetric_address<Address> && combines<Op, element_of<Address>>;

// What such a function is called in messages; of the user's own, nothing.
template <class Op>
constexpr const char* name_of() {
  if constexpr (std::is_same_v<Op, sum>) return "sum";
  if constexpr (std::is_same_v<Op, product>) return "prod";
  if constexpr (std::is_same_v<Op, maximum>) return "max";
  if constexpr (std::is_same_v<Op, minimum>) return "min";
  if constexpr (std::is_same_v<Op, bitwise_and>) return "and";
  if constexpr (std::is_same_v<Op, bitwise_or>) return "or";
  if constexpr (std::is_same_v<Op, bitwise_xor>) return "xor";
  return "";
}

}  // namespace starling::shmem
