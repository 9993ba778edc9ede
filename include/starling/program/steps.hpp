// How the threads of a block of a GPU go along rows: in steps, each of an element or of a vector. What a map (map.hpp)
// is made of.
#pragma once

#include "starling/program/layers.hpp"
#include "starling/program/rows.hpp"

namespace starling::generated::detail {

// store(i, value(i, read(i))) for N numbers from `begin` on, `step` apart.
template <int N, class Step, class Read, class Value, class Store>
STARLING_HD void map_some(index_t begin, Step step, const Read& read, const Value& value, const Store& store) {
  [&]<int... K>(std::integer_sequence<int, K...>) {
    const decltype(read(begin)) rows[] = {read(begin + K * step)...};
    target::ask_first();
    const decltype(value(begin, rows[0])) values[] = {value(begin + K * step, rows[K])...};
    (store(begin + K * step, values[K]), ...);
  }(std::make_integer_sequence<int, N>{});
}

// The same for begin, begin + step, ... below end, which are less than 2 N. N: a power of two.
template <int N, class Read, class Value, class Store>
STARLING_HD void map_up_to(index_t begin, index_t end, index_t step, const Read& read, const Value& value,
                           const Store& store) {
  if (begin + (N - 1) * step < end) {
    map_some<N>(begin, step, read, value, store);
    begin += N * step;
  }
  if constexpr (N > 1) map_up_to<N / 2>(begin, end, step, read, value, store);
}

// How rows are cut into elements, or into vectors, of which the first begins at most a vector before the range.
struct steps_of_elements {
  static constexpr int width = 1;
  index_range xs;
  STARLING_HD index_t first() const { return xs.begin; }
  STARLING_HD index_t number() const { return xs.size(); }
  STARLING_HD one_lane lanes(index_t) const { return {}; }
};
template <int N>
struct steps_of_vectors {
  static constexpr int width = N;
  index_range xs;
  index_t first_;
  STARLING_HD index_t first() const { return first_; }
  STARLING_HD index_t number() const { return ceil_div(xs.end - first_, index_t{N}); }
  STARLING_HD vector_lanes<N> lanes(index_t x) const {
    return {static_cast<int>(most(xs.begin - x, 0)), static_cast<int>(least(xs.end - x, N))};
  }
};

template <class T, class Store>
STARLING_HD void store_lanes(const one_lane&, index_t x, const lane_values<T, 1>& v, const Store& store) {
  store(x, v.of[0]);
}
template <class T, int N, class Store>
STARLING_HD void store_lanes(const vector_lanes<N>& lanes, index_t x, const lane_values<T, N>& v, const Store& store) {
  if (lanes.all())
    store(x, v);
  else
    unrolled<N>([&](auto k) {
      if (lanes.has(k)) store(x + k, v.of[k]);
    });
}

// Whether maps go in steps: on GPUs, and in tests of what compiled programs do there.
#if defined(STARLING_MAPS_IN_STEPS)
inline constexpr bool goes_in_steps = true;
#else
inline constexpr bool goes_in_steps = target::on_gpu;
#endif

// f(steps, AtOnce) by vectors, if all that they begin with are multiples of 16 bytes, else by elements. `begins(x)`:
// what those from x on begin with, or that they are scattered; T: of what is stored.
template <class T, int Elements, int Vectors, class Begins, class F>
STARLING_HD void in_steps(index_range xs, const Begins& begins, const F& f) {
  constexpr int n = lanes_of_vector<T>;
  if constexpr (n > 1 && !std::is_same_v<decltype(begins(xs.begin)), scattered_addresses>) {
    const index_t first = xs.begin - static_cast<index_t>(begins(xs.begin).stored / sizeof(T) % n);
    if (begins(first).all % 16 == 0) return f(steps_of_vectors<n>{xs, first}, std::integral_constant<int, Vectors>{});
  }
  f(steps_of_elements{xs}, std::integral_constant<int, Elements>{});
}

// What the threads of a block share out: steps along the rows of a box, each of an element or a vector, in all of its
// planes and batches of rows. Dealt in turn, steps fastest, so that threads that are neighbours load neighbours.
struct row_item {
  int step;
  index_t plane, batch;

  STARLING_HD static row_item number(int i, int steps, index_t planes) {
    const int row = i / steps;
    if (planes == 1) return {i - row * steps, 0, row};
    const int n = static_cast<int>(least(planes, row + 1));  // short divisions
    return {i - row * steps, row % n, row / n};
  }
  STARLING_HD void add(const row_item& other, int steps, index_t planes) {
    step += other.step;
    plane += other.plane;
    batch += other.batch;
    if (step >= steps) {
      step -= steps;
      ++plane;
    }
    if (plane >= planes) {
      plane -= planes;
      ++batch;
    }
  }
};

}  // namespace starling::generated::detail
