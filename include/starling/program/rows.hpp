// What a map computes at a time: the elements of a vector, which are neighbours in a row of memory, or some of them, or
// one. A body is written once for all of these; what it reads of a row around its elements it reads as a `row`, which a
// GPU loads by one instruction where the elements are a whole vector.
#pragma once

#include <cstdint>

#include "starling/device/loops.hpp"

namespace starling::generated {

// Elements of a vector of T: what a thread of a GPU loads or stores by one instruction, but no more than 4.
template <class T>
inline constexpr int lanes_of_vector = sizeof(T) > 16  ? 1
                                       : sizeof(T) < 4 ? 4
                                                       : 16 / static_cast<int>(sizeof(T));

// Of each lane, in memory a vector.
template <class T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) lane_values {
  T of[N];
};

// One element.
struct one_lane {
  static constexpr int count = 1;
  static constexpr bool in_vector = false;
  STARLING_HD static constexpr bool has(int lane) { return lane == 0; }
};

// Of the N elements of a vector those from `begin` to end - 1. The address of the first is a multiple of the vector's
// size, also if it is not one of them.
template <int N>
struct vector_lanes {
  static constexpr int count = N;
  static constexpr bool in_vector = true;
  int begin, end;
  STARLING_HD constexpr bool has(int lane) const { return lane >= begin && lane < end; }
  STARLING_HD constexpr bool all() const { return begin == 0 && end == N; }
};

// What N lanes read of a row, each at these offsets from itself, the least at most 0 and the greatest at least 0.
// A vector is loaded whole: with a lane in it that is read it has memory of the row alone.
template <class T, int N, int... Offsets>
class row_around {
 public:
  // `first`: where lane 0 is.
  template <class Lanes>
  STARLING_HD row_around(const Lanes& lanes, const T* first) {
    if constexpr (Lanes::in_vector) {
      const auto v = *reinterpret_cast<const lane_values<T, N>*>(first);
      unrolled<N>([&](auto k) { values_[k - low] = v.of[k]; });
    }
    unrolled<N + high - low>([&](auto k) {
      const int i = k + low;
      if (Lanes::in_vector && i >= 0 && i < N) return;
      const bool is_read = (lanes.has(i - Offsets) || ...);
      if constexpr (Lanes::in_vector)
        values_[k] = first[is_read ? i : 0];  // without a branch, so that the loads of all rows come together
      else if (is_read)
        values_[k] = first[i];
    });
  }

  // What is `offset`, one of Offsets, behind lane K.
  template <class K>
  STARLING_HD T operator()(K, int offset) const {
    return values_[K::value + offset - low];
  }

 private:
  STARLING_HD static constexpr int extreme(int sign) {
    int found = 0;
    ((found = sign * Offsets > sign * found ? Offsets : found), ...);
    return found;
  }
  static constexpr int low = extreme(-1), high = extreme(1);

  T values_[N + high - low]{};
};

template <int... Offsets, class Lanes, class T>
STARLING_HD row_around<T, Lanes::count, Offsets...> row(const Lanes& lanes, const T& first) {
  return {lanes, &first};
}

// Some of these, to be given to who computes: rows(r...)(f) is f(r...).
template <class... Rows>
STARLING_HD auto rows(const Rows&... r) {
  return [r...](const auto& f) { return f(r...); };
}

// f(lane, x + lane) for each of the lanes, whose numbers are compile-time constants.
template <class Lanes, class F>
STARLING_HD auto each(const Lanes& lanes, index_t x, const F& f) {
  using T = decltype(f(std::integral_constant<int, 0>{}, x));
  lane_values<T, Lanes::count> values{};
  unrolled<Lanes::count>([&](auto k) {
    if (lanes.has(k)) values.of[k] = f(k, x + k);
  });
  return values;
}

// What a value of one lane, or of several, is stored to.
template <class T>
STARLING_HD T& place_of(const T&, T& element) {
  return element;
}
template <class T, int N>
STARLING_HD lane_values<T, N>& place_of(const lane_values<T, N>&, T& element) {
  return *reinterpret_cast<lane_values<T, N>*>(&element);
}

// Where a map begins to store, and the bits of this and of what its rows begin with: are all multiples of a vector's
// size?
struct row_addresses {
  std::uintptr_t stored, all;
  STARLING_HD friend row_addresses operator|(row_addresses a, row_addresses b) { return {a.stored, a.all | b.all}; }
};
// The same of a map whose elements are not neighbours in memory: it takes no vectors.
struct scattered_addresses {
  STARLING_HD friend scattered_addresses operator|(scattered_addresses a, scattered_addresses) { return a; }
};
template <class T, class... Rows>
STARLING_HD row_addresses addresses(const T& stored, const Rows&... rows) {
  const auto of = [](const auto& element) { return reinterpret_cast<std::uintptr_t>(&element); };
  return {of(stored), (of(stored) | ... | of(rows))};
}

}  // namespace starling::generated
