// Reductions over the threads of a group, in a fixed order: same values and same group size, same bits.
#pragma once

#include <type_traits>

#include "starling/device/report.hpp"
#include "starling/device/target.hpp"

namespace starling {

// The combining functions. maximum and minimum hand a NaN on.
struct plus {
  template <class T>
  STARLING_HD T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct maximum {
  template <class T>
  STARLING_HD T operator()(const T& a, const T& b) const {
    return (a > b || a != a) ? a : b;
  }
};
struct minimum {
  template <class T>
  STARLING_HD T operator()(const T& a, const T& b) const {
    return (a < b || a != a) ? a : b;
  }
};

// What such a function is called in messages; of one that is not from here, nothing.
template <class Op>
constexpr const char* combining_name() {
  if constexpr (std::is_same_v<Op, plus>) return "plus";
  if constexpr (std::is_same_v<Op, maximum>) return "maximum";
  if constexpr (std::is_same_v<Op, minimum>) return "minimum";
  return "";
}

namespace detail {

// Lane 0 of the warp gets the result.
template <class T, class Op>
STARLING_HD T reduce_warp(T value, Op op) {
  for (int delta = target::warp_size / 2; delta > 0; delta /= 2) {
    const T other = target::shuffle_down(value, delta);
    value = op(value, other);
  }
  return value;
}

// Every thread of the block `b` gets the result. A barrier of the block must follow before the next reduction writes
// the slots.
template <class Block, class T, class Op>
STARLING_HD T reduce_block(const Block& b, T value, Op op, [[maybe_unused]] where at) {
  if constexpr (!target::on_gpu) {
    const auto* all = reinterpret_cast<const T*>(b.port().gather(&value, sizeof(T), at));
    T result = all[0];
    for (int i = 1; i < b.members(); ++i) result = op(result, all[i]);
    return result;
  }
  static_assert(sizeof(T) <= target::reduce_slot_bytes, "reduce carries up to 32 bytes");
  const int warps = b.members() / target::warp_size;
  const int warp = target::thread_index() / target::warp_size;
  value = reduce_warp(value, op);
  auto slot = [](int i) -> T& { return *reinterpret_cast<T*>(target::reduce_slots() + i * target::reduce_slot_bytes); };
  if (target::thread_index() % target::warp_size == 0) slot(warp) = value;
  b.sync();
  T result = slot(0);
  for (int i = 1; i < warps; ++i) result = op(result, slot(i));
  return result;
}

}  // namespace detail
}  // namespace starling
