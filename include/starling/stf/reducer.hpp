// Reductions of parallel loops: the operators, and accumulator, which hands one to a loop. An operator of a user is a
// struct with `T identity() const` and `T operator()(const T&, const T&) const`; it must be associative and
// commutative.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "starling/device/target.hpp"
#include "starling/stf/detail/launch_plan.hpp"

namespace starling::stf {

namespace reducer {

struct sum {
  template <class T>
    requires std::constructible_from<T, int>
  STARLING_HD static constexpr T identity() {
    return T(0);
  }
  template <class T>
    requires requires(const T& a, const T& b) { static_cast<T>(a + b); }
  STARLING_HD constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

struct product {
  template <class T>
    requires std::constructible_from<T, int>
  STARLING_HD static constexpr T identity() {
    return T(1);
  }
  template <class T>
    requires requires(const T& a, const T& b) { static_cast<T>(a * b); }
  STARLING_HD constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a * b);
  }
};

// The largest and the smallest; both hand a NaN on.
struct maxval {
  template <class T>
    requires std::numeric_limits<T>::is_specialized
  STARLING_HD static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  template <class T>
    requires requires(const T& a, const T& b) { (a > b || a != a) ? a : b; }
  STARLING_HD constexpr T operator()(const T& a, const T& b) const {
    return (a > b || a != a) ? a : b;
  }
};
struct minval {
  template <class T>
    requires std::numeric_limits<T>::is_specialized
  STARLING_HD static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
    requires requires(const T& a, const T& b) { (a < b || a != a) ? a : b; }
  STARLING_HD constexpr T operator()(const T& a, const T& b) const {
    return (a < b || a != a) ? a : b;
  }
};

struct logical_and {
  template <class T>
    requires std::constructible_from<T, int>
  STARLING_HD static constexpr T identity() {
    return T(1);
  }
  template <class T>
    requires requires(const T& a, const T& b) { T(a && b); }
  STARLING_HD constexpr T operator()(const T& a, const T& b) const {
    return T(a && b);
  }
};
struct logical_or {
  template <class T>
    requires std::constructible_from<T, int>
  STARLING_HD static constexpr T identity() {
    return T(0);
  }
  template <class T>
    requires requires(const T& a, const T& b) { T(a || b); }
  STARLING_HD constexpr T operator()(const T& a, const T& b) const {
    return T(a || b);
  }
};

// Whether an operator combines two values of a type, and has one that changes none.
template <class Op, class T>
concept combines = requires(const Op& op, const T& a, const T& b) {
  { op(a, b) } -> std::convertible_to<T>;
} && (requires { Op::template identity<T>(); } || requires(const Op& op) {
  { op.identity() } -> std::convertible_to<T>;
});

template <class Op, class T>
STARLING_HD constexpr T identity_of(const Op& op) {
  if constexpr (requires { Op::template identity<T>(); })
    return Op::template identity<T>();
  else
    return op.identity();
}

}  // namespace reducer

// As a parameter's given type: the body gets a T& that it adds to, so the parameter must be that reference.
template <class T>
struct accumulated {};

// An argument of a loop that reaches the body as T&, private to the thread and the operator's identity at first. When
// the loop is over *result has everything, combined in a fixed order: the same plan gives the same bits.
template <class T, class Op = reducer::sum>
struct accumulator {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= target::reduce_slot_bytes,
                "an accumulator holds a trivially copyable type of up to 32 bytes");
  static_assert(std::is_trivially_copyable_v<Op>, "the operator travels to the device as bytes");
  using value_type = T;

  T* result = nullptr;  // one element that the device reaches
  // partial_bytes of device memory for one loop at a time, zero before the first; every loop leaves it fit for the
  // next. After a loop that has failed, make it zero again.
  void* partials = nullptr;
  bool keep = false;  // combine with what *result holds; false: overwrite it
  Op op{};
};

// Device memory that an accumulator needs for a loop with this plan.
inline std::size_t partial_bytes(const launch_plan& plan) {
  return (1 + static_cast<std::size_t>(plan.blocks)) * target::reduce_slot_bytes;
}

}  // namespace starling::stf
