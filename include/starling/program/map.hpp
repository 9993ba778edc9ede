// map: computes the elements of a range and stores them, the elements spread over the threads of a block. No element
// may need what the same map stores.
//
// A thread of a GPU computes several elements before it stores the first: their loads are under way at the same time,
// which the compiler may not arrange across a store. Neighbouring threads store to whole lines of memory: where a range
// begins within a line, the threads of the elements before it take the last ones instead.
#pragma once

#include "starling/program/layers.hpp"

namespace starling::generated {

namespace detail {

inline constexpr int together = 8;  // elements of a thread

// Elements of type T from the beginning of a line of memory to column `column` of a row that begins with a line, as all
// rows do whose length is a multiple of a line's.
template <class T>
STARLING_HD constexpr int within_line(index_t column) {
  constexpr int line = 128 / static_cast<int>(sizeof(T));
  return static_cast<int>(column & (line - 1));
}

// Of n elements in rounds of `threads`, a power of two: whether so many idle threads before them cost no further round.
STARLING_HD constexpr bool is_free(index_t before, index_t n, index_t threads) {
  return ((n - 1) & (threads - 1)) + before < threads;
}

// store(i, value(i)) for N numbers from `begin` on, `step` apart.
template <int N, class Step, class Value, class Store>
STARLING_HD void map_some(index_t begin, Step step, const Value& value, const Store& store) {
  decltype(value(begin)) values[N];
  unrolled<N>([&](auto k) { values[k] = value(begin + k * step); });
  unrolled<N>([&](auto k) { store(begin + k * step, values[k]); });
}

// The same for begin, begin + step, ... below end, which are at most `together`.
template <class Step, class Value, class Store>
STARLING_HD void map_up_to(index_t begin, index_t end, Step step, const Value& value, const Store& store) {
  if (begin + (together - 1) * step < end) {
    map_some<together>(begin, step, value, store);
    return;
  }
  index_t i = begin;
  if (i + 3 * step < end) {
    map_some<4>(i, step, value, store);
    i += 4 * step;
  }
  if (i + step < end) {
    map_some<2>(i, step, value, store);
    i += 2 * step;
  }
  if (i < end) store(i, value(i));
}

// A box by the threads of a tile, planes by rows by x. A thread takes `together` neighbouring rows at a time, which
// have in common much of what they read; of these all planes, so that what two planes read is still in a cache; of a
// plane all x.
template <class Value, class Store, class Column>
STARLING_HD void map_box(thread_tile t, index_range zs, index_range ys, index_range xs, const Value& value,
                         const Store& store, const Column& column) {
  if (t.nx == 0) return;
  using T = decltype(value(0, 0, 0));
  const index_t within = within_line<T>(column(zs.begin, ys.begin, xs.begin));
  const index_t before = is_free(within, xs.size(), t.nx) ? within : 0;
  t.x = (t.x - before) & (t.nx - 1);  // those before the first take the last
  constexpr std::integral_constant<index_t, 1> one;
  for (index_t first = ys.begin + together * t.y; first < ys.end; first += together * t.ny)
    for (index_t z = zs.begin + t.z; z < zs.end; z += t.nz)
      for (index_t x = xs.begin + t.x; x < xs.end; x += t.nx)
        map_up_to(
            first, least(first + together, ys.end), one, [&](index_t y) { return value(z, y, x); },
            [&](index_t y, const auto& v) { store(z, y, x, v); });
}

}  // namespace detail

// store(x, value(x)); column(x): of the element that it stores to, in the row of memory.
template <class Value, class Store, class Column>
STARLING_HD void map(const block& b, index_range xs, const Value& value, const Store& store,
                     [[maybe_unused]] const Column& column) {
  if constexpr (target::on_gpu) {
    const index_t step = b.members();
    const bool many = xs.size() >= 4 * detail::together * step;
    const index_t before = many ? detail::within_line<decltype(value(0))>(column(xs.begin)) : 0;
    for (index_t x = xs.begin - before + b.member(); x < xs.end; x += detail::together * step)
      detail::map_up_to(x < xs.begin ? x + step : x, least(x + detail::together * step, xs.end), step, value, store);
  } else {
    b.for_each(xs, [&](index_t x) { store(x, value(x)); });
  }
}

// store(y, x, value(y, x)), x fastest.
template <class Value, class Store, class Column>
STARLING_HD void map(const block& b, index_range ys, index_range xs, const Value& value, const Store& store,
                     [[maybe_unused]] const Column& column) {
  if constexpr (target::on_gpu) {
    thread_tile t(b.member(), b.members(), xs.size(), ys.size());
    // A plane has no third side: rows take it.
    t.y += t.z * t.ny;
    t.ny *= t.nz;
    t.z = 0;
    if (ys.size() >= 4 * t.ny)
      return detail::map_box(
          t, {0, 1}, ys, xs, [&](index_t, index_t y, index_t x) { return value(y, x); },
          [&](index_t, index_t y, index_t x, const auto& v) { store(y, x, v); },
          [&](index_t, index_t y, index_t x) { return column(y, x); });
  }
  b.for_each(ys, xs, [&](index_t y, index_t x) { store(y, x, value(y, x)); });
}

// store(z, y, x, value(z, y, x)), x fastest.
template <class Value, class Store, class Column>
STARLING_HD void map(const block& b, index_range zs, index_range ys, index_range xs, const Value& value,
                     const Store& store, [[maybe_unused]] const Column& column) {
  if constexpr (target::on_gpu) {
    const thread_tile t(b.member(), b.members(), xs.size(), ys.size());
    if (ys.size() >= 4 * t.ny) return detail::map_box(t, zs, ys, xs, value, store, column);
  }
  b.for_each(zs, ys, xs, [&](index_t z, index_t y, index_t x) { store(z, y, x, value(z, y, x)); });
}

}  // namespace starling::generated
