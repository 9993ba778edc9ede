// Arithmetic of a generated program that C++ does otherwise than Python and NumPy.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "starling/base/index.hpp"
#include "starling/device/reduce.hpp"

namespace starling::generated {

// Whole numbers wrap around, which those of C++ with a sign must not.
template <class T>
STARLING_HD constexpr std::make_unsigned_t<T> without_sign(T a) {
  return static_cast<std::make_unsigned_t<T>>(a);
}
template <class T>
STARLING_HD constexpr T add(T a, T b) {
  return static_cast<T>(without_sign(a) + without_sign(b));
}
template <class T>
STARLING_HD constexpr T subtract(T a, T b) {
  return static_cast<T>(without_sign(a) - without_sign(b));
}
template <class T>
STARLING_HD constexpr T multiply(T a, T b) {
  return static_cast<T>(without_sign(a) * without_sign(b));
}

// A quotient that is rounded down and what remains, which has the sign of the divisor.
template <class T>
struct quotient {
  T whole;
  T rest;
};

// NumPy's: the quotient of floating point numbers follows from the remainder, which is exact, so that the two agree.
// Of a divisor that is not 0.
template <class T>
STARLING_HD quotient<T> divide(T a, T b) {
  T rest = std::fmod(a, b);
  T ratio = (a - rest) / b;
  if (rest == 0) {
    rest = std::copysign(T{0}, b);
  } else if ((b < 0) != (rest < 0)) {
    rest += b;
    ratio -= 1;
  }
  if (ratio == 0) return {std::copysign(T{0}, a / b), rest};
  const T whole = std::floor(ratio);
  return {ratio - whole > T{0.5} ? whole + 1 : whole, rest};
}

// Quotients round down; of whole numbers by 0 they are 0, as NumPy's.
template <class T>
STARLING_HD T floor_divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (b == -1) return subtract(T{0}, a);  // the smallest number has no quotient
    const T q = a / b;
    return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
  } else {
    return b == 0 ? a / b : divide(a, b).whole;
  }
}

// The remainder has the sign of the divisor.
template <class T>
STARLING_HD T modulo(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == -1) return 0;
    const T r = a % b;
    return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
  } else {
    return b == 0 ? std::fmod(a, b) : divide(a, b).rest;
  }
}

template <class T>
STARLING_HD constexpr T square(T a) {
  return a * a;
}

// Shifted by less than nothing, or by all bits and more, a number is gone, but for its sign to the right: as NumPy's.
template <class T>
STARLING_HD constexpr T shift_left(T a, T by) {
  return without_sign(by) < 8 * sizeof(T) ? static_cast<T>(without_sign(a) << by) : T{0};
}
template <class T>
STARLING_HD constexpr T shift_right(T a, T by) {
  return a >> (without_sign(by) < 8 * sizeof(T) ? by : static_cast<T>(8 * sizeof(T) - 1));
}

// A floating point number as a whole one: rounded to 0, and the least one if it has no place in T, as on the processors
// that NumPy mostly runs on.
template <class T, class F>
STARLING_HD constexpr T as_whole(F a) {
  constexpr F limit = -static_cast<F>(std::numeric_limits<T>::lowest());
  return a > -limit - 1 && a < limit ? static_cast<T>(a) : std::numeric_limits<T>::lowest();
}

// Of whole numbers the exponent is not negative.
template <class T>
STARLING_HD T power(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    T result = 1;
    for (; b > 0; b >>= 1) {
      if (b % 2 != 0) result = multiply(result, a);
      a = multiply(a, a);
    }
    return result;
  } else {
    return std::pow(a, b);
  }
}

template <class T>
STARLING_HD T absolute(T a) {
  if constexpr (std::is_integral_v<T>)
    return a < 0 ? subtract(T{0}, a) : a;
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

// What one thread combines, value by value. On virtual devices, whose threads add many, floating point numbers are
// added in runs and the sums of these pairwise: the error then grows with the logarithm of their number.
template <class T, class Op>
class partial {
 public:
  STARLING_HD void add(const T& value) {
    run_ = Op{}(run_, value);
    if constexpr (pairwise)
      if (++in_run_ == longest) end_run();
  }
  STARLING_HD T value() const {
    T result = run_;
    if constexpr (pairwise)
      for (int level = 0; runs_ >> level != 0; ++level)
        if ((runs_ >> level & 1) != 0) result += sums_[level];
    return result;
  }

 private:
  static constexpr bool pairwise = std::is_floating_point_v<T> && std::is_same_v<Op, plus> && !target::on_gpu;
  static constexpr int longest = 128;

  // Joins the sums of two times as many runs as often as there are two of them, as a counter carries.
  STARLING_HD void end_run() {
    int level = 0;
    for (; (runs_ >> level & 1) != 0; ++level) run_ += sums_[level];
    sums_[level] = run_;
    ++runs_;
    run_ = 0;
    in_run_ = 0;
  }

  T run_ = nothing<T>(Op{});
  int in_run_ = 0;
  std::uint64_t runs_ = 0;
  T sums_[pairwise ? 64 : 1];  // of 2^level runs, where that bit of runs_ is set
};

// f(k) for begin <= k < end, combined.
template <class T, class Op, class F>
STARLING_HD T fold(Op, index_t begin, index_t end, const F& f) {
  partial<T, Op> result;
  for (index_t k = begin; k < end; ++k) result.add(static_cast<T>(f(k)));
  return result.value();
}

}  // namespace starling::generated
