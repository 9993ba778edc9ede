// map: computes the elements of a range and stores them, the elements spread over the threads of a block. No element
// may need what the same map stores.
//
// Of a map
//   values(lanes, y, x)   computes as many elements as there are lanes (rows.hpp) from (y, x) on, x fastest;
//   addresses(y, x)       of what is stored to and of what the rows begin with that `values` reads (row_addresses);
//   store(y, x, v)        stores a value, or those of all lanes of a vector.
//
// A thread of a GPU computes vectors where all rows begin with one, and stores them whole: a load or store of 16 bytes
// costs a multiprocessor as much as one of 4. Elsewhere it computes several elements before it stores the first: their
// loads are under way at the same time, which the compiler may not arrange across a store.
#pragma once

#include "starling/program/layers.hpp"
#include "starling/program/rows.hpp"

namespace starling::generated {

namespace detail {

// Elements of a thread where there are no vectors: of a row, and neighbouring rows, whose reads take more registers.
inline constexpr int together = 8;
inline constexpr int rows_together = 4;

// store(i, value(i)) for N numbers from `begin` on, `step` apart.
template <int N, class Step, class Value, class Store>
STARLING_HD void map_some(index_t begin, Step step, const Value& value, const Store& store) {
  decltype(value(begin)) values[N];
  unrolled<N>([&](auto k) { values[k] = value(begin + k * step); });
  unrolled<N>([&](auto k) { store(begin + k * step, values[k]); });
}

// The same for begin, begin + step, ... below end, which are at most Most: 4 or 8.
template <int Most, class Step, class Value, class Store>
STARLING_HD void map_up_to(index_t begin, index_t end, Step step, const Value& value, const Store& store) {
  if (begin + (Most - 1) * step < end) {
    map_some<Most>(begin, step, value, store);
    return;
  }
  index_t i = begin;
  if constexpr (Most > 4)
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

// A box by the threads of a tile, planes by rows by x. Where there are many rows a thread takes `rows_together`
// neighbouring ones at a time, which have in common much of what they read; of these all planes, so that what two
// planes read is still in a cache; of a plane all x.
template <class Values, class Store>
STARLING_HD void map_elements(const thread_tile& t, index_range zs, index_range ys, index_range xs,
                              const Values& values, const Store& store) {
  if (t.nx == 0) return;
  constexpr std::integral_constant<index_t, 1> one;
  const index_t rows = ys.size() >= 4 * t.ny ? rows_together : 1;
  for (index_t first = ys.begin + rows * t.y; first < ys.end; first += rows * t.ny)
    for (index_t z = zs.begin + t.z; z < zs.end; z += t.nz)
      for (index_t x = xs.begin + t.x; x < xs.end; x += t.nx)
        map_up_to<rows_together>(
            first, least(first + rows, ys.end), one, [&](index_t y) { return values(one_lane{}, z, y, x).of[0]; },
            [&](index_t y, const auto& v) { store(z, y, x, v); });
}

// A box by vectors, of which the first of a row begins at x = `first`, at most a vector before the range.
template <class T, class Values, class Store>
STARLING_HD void map_vectors(const thread_tile& t, index_range zs, index_range ys, index_range xs, index_t first,
                             const Values& values, const Store& store) {
  constexpr int n = lanes_of_vector<T>;
  if (t.nx == 0) return;
  for (index_t y = ys.begin + t.y; y < ys.end; y += t.ny)
    for (index_t z = zs.begin + t.z; z < zs.end; z += t.nz)
      for (index_t x = first + n * t.x; x < xs.end; x += n * t.nx) {
        const vector_lanes<n> lanes{static_cast<int>(most(xs.begin - x, 0)), static_cast<int>(least(xs.end - x, n))};
        const auto v = values(lanes, z, y, x);
        if (lanes.all())
          store(z, y, x, v);
        else
          unrolled<n>([&](auto k) {
            if (lanes.has(k)) store(z, y, x + k, v.of[k]);
          });
      }
}

// A box by all threads of a block of a GPU. Addresses grow evenly with z and y: if those of the first row, and of the
// rows beside it and above it, are multiples of 16 bytes, so are all.
template <class Values, class Addresses, class Store>
STARLING_HD void map_box(int member, int members, index_range zs, index_range ys, index_range xs, const Values& values,
                         const Addresses& addresses, const Store& store) {
  if (zs.empty() || ys.empty() || xs.empty()) return;
  using T = std::remove_cvref_t<decltype(values(one_lane{}, 0, 0, 0).of[0])>;
  constexpr int n = lanes_of_vector<T>;
  const std::uintptr_t stored = addresses(zs.begin, ys.begin, xs.begin).stored;
  const index_t first = xs.begin - static_cast<index_t>(stored / sizeof(T) % n);
  const auto bits = [&](index_t z, index_t y) { return addresses(z, y, first).all; };
  const std::uintptr_t all = bits(zs.begin, ys.begin) | bits(zs.begin, ys.begin + 1) | bits(zs.begin + 1, ys.begin);
  const bool vectors = n > 1 && all % 16 == 0;
  const index_t columns = vectors ? ceil_div(xs.end - first, index_t{n}) : xs.size();
  thread_tile t(member, members, columns, ys.size());
  if (zs.size() == 1) {  // a plane has no third side: rows take it
    t.y += t.z * t.ny;
    t.ny *= t.nz;
    t.z = 0;
    t.nz = 1;
  }
  if (vectors)
    map_vectors<T>(t, zs, ys, xs, first, values, store);
  else
    map_elements(t, zs, ys, xs, values, store);
}

}  // namespace detail

// Of one axis, which takes no vectors.
template <class Values, class Addresses, class Store>
STARLING_HD void map(const block& b, index_range xs, const Values& values, const Addresses&, const Store& store) {
  const auto value = [&](index_t x) { return values(one_lane{}, x).of[0]; };
  if constexpr (target::on_gpu) {
    const index_t step = b.members();
    for (index_t x = xs.begin + b.member(); x < xs.end; x += detail::together * step)
      detail::map_up_to<detail::together>(x, least(x + detail::together * step, xs.end), step, value, store);
  } else {
    b.for_each(xs, [&](index_t x) { store(x, value(x)); });
  }
}

template <class Values, class Addresses, class Store>
STARLING_HD void map(const block& b, index_range ys, index_range xs, const Values& values,
                     [[maybe_unused]] const Addresses& addresses, const Store& store) {
  if constexpr (target::on_gpu)
    detail::map_box(
        b.member(), b.members(), {0, 1}, ys, xs,
        [&](const auto& lanes, index_t, index_t y, index_t x) { return values(lanes, y, x); },
        [&](index_t, index_t y, index_t x) { return addresses(y, x); },
        [&](index_t, index_t y, index_t x, const auto& v) { store(y, x, v); });
  else
    b.for_each(ys, xs, [&](index_t y, index_t x) { store(y, x, values(one_lane{}, y, x).of[0]); });
}

template <class Values, class Addresses, class Store>
STARLING_HD void map(const block& b, index_range zs, index_range ys, index_range xs, const Values& values,
                     [[maybe_unused]] const Addresses& addresses, const Store& store) {
  if constexpr (target::on_gpu)
    detail::map_box(b.member(), b.members(), zs, ys, xs, values, addresses, store);
  else
    b.for_each(zs, ys, xs, [&](index_t z, index_t y, index_t x) { store(z, y, x, values(one_lane{}, z, y, x).of[0]); });
}

}  // namespace starling::generated
