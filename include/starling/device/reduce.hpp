// Reductions over the threads of a group, in a fixed order: same values and same group size, same bits.
#pragma once

#include <type_traits>
#include <utility>

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

// Many values are combined as on 32 lanes: each has so many in a row, and combines them in order; then neighbours
// combine what they have, and pairs of them, and so on. The order of the values is kept, on virtual devices too.
inline constexpr int reduce_lanes = 32;

// load(begin), load(begin + 1), ... up to `end`, in order; several are loaded before any is combined, since each comes
// from far away.
template <class T, class Op, class Load>
STARLING_HD T reduce_row(int begin, int end, const Op& op, const Load& load) {
  constexpr int at_once = sizeof(T) <= 8 ? 8 : 2;
  T sum = load(begin);
  for (int i = begin + 1; i < end; i += at_once) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      const T some[] = {load(i + K < end ? i + K : begin)...};
      ((i + K < end ? void(sum = op(sum, some[K])) : void()), ...);
    }(std::make_integer_sequence<int, at_once>());
  }
  return sum;
}

// What lanes from `lane` on make of theirs, `width` of them or as far as there are values.
template <class T, class Op, class OfLane>
STARLING_HD T reduce_halves(int lane, int width, int used, const Op& op, const OfLane& of_lane) {
  if (width == 1) return of_lane(lane);
  const T first = reduce_halves<T>(lane, width / 2, used, op, of_lane);
  if (lane + width / 2 >= used) return first;
  return op(first, reduce_halves<T>(lane + width / 2, width / 2, used, op, of_lane));
}

// load(0) to load(n - 1). Every thread of whole warps gets the result, each warp by itself.
template <class T, class Op, class Load>
STARLING_HD T reduce_many(int n, const Op& op, const Load& load) {
  const int each = (n + reduce_lanes - 1) / reduce_lanes;
  const int used = (n + each - 1) / each;
  const auto of_lane = [&](int lane) {
    const int begin = lane * each;
    return reduce_row<T>(begin, begin + each < n ? begin + each : n, op, load);
  };
  if constexpr (target::on_gpu) {
    struct carried {
      alignas(4) alignas(T) T value;  // as shuffles take it
    };
    const int lane = target::thread_index() % target::warp_size;
    carried sum{of_lane(lane < used ? lane : used - 1)};
    for (int delta = 1; delta < reduce_lanes; delta *= 2) {
      const carried other = target::shuffle_down(sum, delta);
      if (lane + delta < used) sum.value = op(sum.value, other.value);
    }
    return target::shuffle_first(sum).value;
  } else {
    return reduce_halves<T>(0, reduce_lanes, used, op, of_lane);
  }
}

}  // namespace detail
}  // namespace starling
