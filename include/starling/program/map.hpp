// map: computes the elements of a range and stores them, the elements spread over the threads of a block. No element may
// need what the same map stores. A thread of a GPU computes several elements before it stores the first: their loads
// are then under way at the same time, which the compiler may not arrange across a store.
#pragma once

#include "starling/program/layers.hpp"

namespace starling::generated {

namespace detail {

// store(i, value(i)) for N numbers from `begin` on, `step` apart.
template <int N, class Step, class Value, class Store>
STARLING_HD void map_together(index_t begin, Step step, const Value& value, const Store& store) {
  decltype(value(begin)) values[N];
  unrolled<N>([&](auto k) { values[k] = value(begin + k * step); });
  unrolled<N>([&](auto k) { store(begin + k * step, values[k]); });
}

// As many at a time as there are left of 8, 4 and 1: for begin, begin + step, ... below end.
template <class Step, class Value, class Store>
STARLING_HD void map_rest(index_t begin, index_t end, Step step, const Value& value, const Store& store) {
  index_t i = begin;
  if (i + 7 * step < end) {
    map_together<8>(i, step, value, store);
    return;
  }
  if (i + 3 * step < end) {
    map_together<4>(i, step, value, store);
    i += 4 * step;
  }
  for (; i < end; i += step) store(i, value(i));
}

// Rows of a plane: a thread, number `mine` of `of`, takes neighbouring ones, which have in common much of what they
// need, where there are enough of them.
template <class Value, class Store>
STARLING_HD void map_rows(index_range r, index_t mine, index_t of, const Value& value, const Store& store) {
  if (r.size() < 4 * of) {
    for (index_t i = r.begin + mine; i < r.end; i += of) store(i, value(i));
    return;
  }
  for (index_t i = r.begin + 8 * mine; i < r.end; i += 8 * of)
    map_rest(i, least(i + 8, r.end), std::integral_constant<index_t, 1>(), value, store);
}

}  // namespace detail

// store(x, value(x)).
template <class Value, class Store>
STARLING_HD void map(const block& b, index_range xs, const Value& value, const Store& store) {
  if constexpr (target::on_gpu) {
    const index_t step = b.members();
    for (index_t x = xs.begin + b.member(); x < xs.end; x += 8 * step) detail::map_rest(x, least(x + 8 * step, xs.end), step, value, store);
  } else {
    b.for_each(xs, [&](index_t x) { store(x, value(x)); });
  }
}

// store(y, x, value(y, x)), x fastest.
template <class Value, class Store>
STARLING_HD void map(const block& b, index_range ys, index_range xs, const Value& value, const Store& store) {
  if constexpr (target::on_gpu) {
    const thread_tile t(b.member(), b.members(), xs.size(), ys.size());
    if (t.nx == 0) return;
    for (index_t x = xs.begin + t.x; x < xs.end; x += t.nx)
      detail::map_rows(
          ys, t.z * t.ny + t.y, t.ny * t.nz, [&](index_t y) { return value(y, x); },
          [&](index_t y, const auto& v) { store(y, x, v); });
  } else {
    b.for_each(ys, xs, [&](index_t y, index_t x) { store(y, x, value(y, x)); });
  }
}

// store(z, y, x, value(z, y, x)), x fastest.
template <class Value, class Store>
STARLING_HD void map(const block& b, index_range zs, index_range ys, index_range xs, const Value& value,
                     const Store& store) {
  if constexpr (target::on_gpu) {
    const thread_tile t(b.member(), b.members(), xs.size(), ys.size());
    if (t.nx == 0) return;
    for (index_t z = zs.begin + t.z; z < zs.end; z += t.nz)
      for (index_t x = xs.begin + t.x; x < xs.end; x += t.nx)
        detail::map_rows(
            ys, t.y, t.ny, [&](index_t y) { return value(z, y, x); },
            [&](index_t y, const auto& v) { store(z, y, x, v); });
  } else {
    b.for_each(zs, ys, xs, [&](index_t z, index_t y, index_t x) { store(z, y, x, value(z, y, x)); });
  }
}

}  // namespace starling::generated
