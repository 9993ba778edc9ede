// map: computes the elements of a range and stores them, the elements spread over the threads of a block. No element
// may need what the same map stores.
//
// A GPU's memory answers late, so much of it has to be on its way. A thread computes several elements before it stores
// the first: their loads are under way at the same time, which the compiler may not arrange across a store. And it
// calls what the elements after these read into the L2 cache: `ahead` names it.
#pragma once

#include "starling/program/layers.hpp"

namespace starling::generated {

namespace detail {

inline constexpr int together = 8;  // elements of a thread

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

// Where a thread is on its way through a box: rows from y on, of plane z, at x.
struct box_place {
  index_t z, y, x;
};

// A box as a thread walks through it: `together` neighbouring rows at a time, which have much in common of what they
// read; of these all planes, so that what two planes read is still in a cache; of a plane all x.
struct box_walk {
  index_range zs, ys, xs;
  index_t first_z, first_x;  // of the thread
  index_t next_z, next_y, next_x;

  STARLING_HD bool in(const box_place& p) const { return p.y < ys.end; }
  STARLING_HD box_place after(const box_place& p) const {
    if (p.x + next_x < xs.end) return {p.z, p.y, p.x + next_x};
    if (p.z + next_z < zs.end) return {p.z + next_z, p.y, first_x};
    return {first_z, p.y + next_y, first_x};
  }
};

// The threads of the block form a tile: planes by rows by x.
template <class Value, class Store, class Ahead>
STARLING_HD void map_box(const thread_tile& t, index_range zs, index_range ys, index_range xs, const Value& value,
                         const Store& store, const Ahead& ahead) {
  const box_walk walk{zs, ys, xs, zs.begin + t.z, xs.begin + t.x, t.nz, together * t.ny, t.nx};
  if (t.nx == 0 || walk.first_z >= zs.end || walk.first_x >= xs.end) return;
  constexpr std::integral_constant<index_t, 1> one;
  for (box_place at{walk.first_z, ys.begin + together * t.y, walk.first_x}; walk.in(at);) {
    const box_place next = walk.after(at);
    unrolled<together>([&](auto k) {
      if (next.y + k < ys.end) ahead(next.z, next.y + k, next.x);
    });
    map_up_to(
        at.y, least(at.y + together, ys.end), one, [&](index_t y) { return value(at.z, y, at.x); },
        [&](index_t y, const auto& v) { store(at.z, y, at.x, v); });
    at = next;
  }
}

}  // namespace detail

// store(x, value(x)).
template <class Value, class Store, class Ahead>
STARLING_HD void map(const block& b, index_range xs, const Value& value, const Store& store, const Ahead& ahead) {
  if constexpr (target::on_gpu) {
    const index_t step = b.members();
    for (index_t x = xs.begin + b.member(); x < xs.end; x += detail::together * step) {
      const index_t next = x + detail::together * step;
      unrolled<detail::together>([&](auto k) {
        if (next + k * step < xs.end) ahead(next + k * step);
      });
      detail::map_up_to(x, least(next, xs.end), step, value, store);
    }
  } else {
    b.for_each(xs, [&](index_t x) { store(x, value(x)); });
  }
}

// store(y, x, value(y, x)), x fastest.
template <class Value, class Store, class Ahead>
STARLING_HD void map(const block& b, index_range ys, index_range xs, const Value& value, const Store& store,
                     const Ahead& ahead) {
  if constexpr (target::on_gpu) {
    thread_tile t(b.member(), b.members(), xs.size(), ys.size());
    // A plane has no third side: rows take it.
    t.y += t.z * t.ny;
    t.ny *= t.nz;
    t.z = 0;
    if (ys.size() < 4 * t.ny) return b.for_each(ys, xs, [&](index_t y, index_t x) { store(y, x, value(y, x)); });
    detail::map_box(
        t, {0, 1}, ys, xs, [&](index_t, index_t y, index_t x) { return value(y, x); },
        [&](index_t, index_t y, index_t x, const auto& v) { store(y, x, v); },
        [&](index_t, index_t y, index_t x) { ahead(y, x); });
  } else {
    b.for_each(ys, xs, [&](index_t y, index_t x) { store(y, x, value(y, x)); });
  }
}

// store(z, y, x, value(z, y, x)), x fastest.
template <class Value, class Store, class Ahead>
STARLING_HD void map(const block& b, index_range zs, index_range ys, index_range xs, const Value& value,
                     const Store& store, const Ahead& ahead) {
  if constexpr (target::on_gpu) {
    const thread_tile t(b.member(), b.members(), xs.size(), ys.size());
    if (ys.size() >= 4 * t.ny) return detail::map_box(t, zs, ys, xs, value, store, ahead);
  }
  b.for_each(zs, ys, xs, [&](index_t z, index_t y, index_t x) { store(z, y, x, value(z, y, x)); });
}

}  // namespace starling::generated
