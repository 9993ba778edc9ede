// Arithmetic of a generated program that C++ does otherwise than Python and NumPy.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "starling/base/index.hpp"
#include "starling/device/reduce.hpp"

namespace starling::generated {

// Quotients round down; of whole numbers by 0 they are 0, as NumPy's.
template <class T>
STARLING_HD T floor_divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    const T q = a / b;
    return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
  } else {
    return std::floor(a / b);
  }
}

// The remainder has the sign of the divisor.
template <class T>
STARLING_HD T modulo(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    const T r = a % b;
    return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
  } else {
    const T r = std::fmod(a, b);
    return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
  }
}

template <class T>
STARLING_HD T power(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    T result = 1;
    for (T k = 0; k < b; ++k) result *= a;
    return result;
  } else {
    return std::pow(a, b);
  }
}

template <class T>
STARLING_HD T absolute(T a) {
  if constexpr (std::is_integral_v<T>)
    return a < 0 ? -a : a;
  else
    return std::fabs(a);
}

// What a reduction of nothing gives.
template <class T>
STARLING_HD constexpr T nothing(plus) {
  return T{0};
}
template <class T>
STARLING_HD constexpr T nothing(maximum) {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::lowest();
  else
    return -std::numeric_limits<T>::infinity();
}
template <class T>
STARLING_HD constexpr T nothing(minimum) {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::max();
  else
    return std::numeric_limits<T>::infinity();
}

// f(k) for begin <= k < end, combined one after the other.
template <class T, class Op, class F>
STARLING_HD T fold(Op op, index_t begin, index_t end, const F& f) {
  T result = nothing<T>(op);
  for (index_t k = begin; k < end; ++k) result = op(result, static_cast<T>(f(k)));
  return result;
}

}  // namespace starling::generated
