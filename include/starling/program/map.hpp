// map: computes the elements of a range and stores them, the elements spread over the threads of a block. No element
// may need what the same map stores.
//
// Of a map
//   backwards             which way it goes (`turns`);
//   reads(lanes, y, x)    the rows (rows.hpp) that are read for as many elements as there are lanes, from (y, x) on, x
//                         fastest;
//   values(lanes, y, x, row...)   computes these elements;
//   addresses(y, x)       of what is stored to and of what these rows begin with (row_addresses), or, where the
//                         elements of a row are not neighbours in memory, scattered_addresses;
//   store(y, x, v)        stores a value, or those of all lanes of a vector.
//
// A thread of a GPU computes vectors where all rows begin with one, and stores them whole: a load or store of 16 bytes
// costs a multiprocessor as much as one of 4. It asks for the rows of several elements before it computes the first, so
// that all these loads are under way at the same time; rows that are neighbours have many of them in common.
//
// Every other map of a kernel goes backwards through its rows: it begins with what the one before stored last, which
// the L2 cache may still have.
#pragma once

#include "starling/program/steps.hpp"

namespace starling::generated {

namespace detail {

// A line by one of the threads of a block, AtOnce steps at a time.
template <int AtOnce, class Steps, class Reads, class Values, class Store>
STARLING_HD void map_line(int member, int members, bool backwards, const Steps& line, const Reads& reads,
                          const Values& values, const Store& store) {
  const auto at = [&](index_t step) { return line.first() + Steps::width * step; };
  const auto read = [&](index_t i) { return reads(line.lanes(at(i)), at(i)); };
  const auto value = [&](index_t i, const auto& rows) {
    return rows([&](const auto&... r) { return values(line.lanes(at(i)), at(i), r...); });
  };
  const auto keep = [&](index_t i, const auto& v) { store_lanes(line.lanes(at(i)), at(i), v, store); };
  const index_t span = index_t{AtOnce} * members;
  const index_t rounds = line.number() <= span ? 1 : ceil_div(line.number(), span);
  for (index_t round = 0; round < rounds; ++round) {
    const index_t begin = (backwards ? rounds - 1 - round : round) * span;
    map_up_to<AtOnce>(begin + member, least(begin + span, line.number()), members, read, value, keep);
  }
}

// A box by one of the threads of a block, Rows at a time. Long rows are cut into strips, as wide as the threads, one
// after the other: what neighbouring rows of a strip have in common is still in the L1 cache. All threads do the same
// at the ends of rows: a thread that did something else would keep its warp, and in the end the block, from the rest.
template <int Rows, class Steps, class Reads, class Values, class Store>
STARLING_HD void map_rows(int member, int members, bool backwards, index_range zs, index_range ys, const Steps& row,
                          const Reads& reads, const Values& values, const Store& store) {
  const index_t all = row.number(), planes = zs.size(), batches = ceil_div(ys.size(), index_t{Rows});
  const index_t strips = all <= members ? 1 : ceil_div(all, index_t{members});
  const index_t wide = strips == 1 ? all : ceil_div(all, strips);
  for (index_t strip = 0; strip < strips; ++strip) {
    const index_t begin = (backwards ? strips - 1 - strip : strip) * wide;
    const int steps = static_cast<int>(least(wide, all - begin));
    const row_item next = row_item::number(members, steps, planes);
    for (row_item i = row_item::number(member, steps, planes); i.batch < batches; i.add(next, steps, planes)) {
      const index_t x = row.first() + Steps::width * (begin + i.step), z = zs.begin + i.plane;
      const auto lanes = row.lanes(x);
      const auto read = [&](index_t y) { return reads(lanes, z, y, x); };
      const auto value = [&](index_t y, const auto& rows) {
        return rows([&](const auto&... r) { return values(lanes, z, y, x, r...); });
      };
      const auto keep = [&](index_t y, const auto& v) {
        store_lanes(lanes, x, v, [&](index_t at, const auto& element) { store(z, y, at, element); });
      };
      constexpr std::integral_constant<index_t, 1> one;
      const index_t first = ys.begin + Rows * (backwards ? batches - 1 - i.batch : i.batch);
      if (first + Rows <= ys.end)
        map_some<Rows>(first, one, read, value, keep);
      else
        target::rolled(first, ys.end, [&](index_t y) { map_some<1>(y, one, read, value, keep); });
    }
  }
}

// A box with few steps for each thread, by one of these, without divisions.
template <class Steps, class Reads, class Values, class Store>
STARLING_HD void map_small(int member, int members, index_range zs, index_range ys, const Steps& row,
                           const Reads& reads, const Values& values, const Store& store) {
  const thread_tile t(member, members, row.number(), ys.size());
  if (t.nx == 0) return;
  for (index_t y = ys.begin + t.y; y < ys.end; y += t.ny)
    for (index_t z = zs.begin + t.z; z < zs.end; z += t.nz)
      for (index_t step = t.x; step < row.number(); step += t.nx) {
        const index_t x = row.first() + Steps::width * step;
        const auto lanes = row.lanes(x);
        const auto v = reads(lanes, z, y, x)([&](const auto&... r) { return values(lanes, z, y, x, r...); });
        store_lanes(lanes, x, v, [&](index_t at, const auto& element) { store(z, y, at, element); });
      }
}

// A box by all threads of a block of a GPU, as many rows at a time as registers allow where there are enough for all
// threads. Addresses grow evenly with z and y: if those of the first row, and of the rows beside it and above it, are
// multiples of 16 bytes, so are all.
template <class T, int Elements, int Vectors, class Reads, class Values, class Addresses, class Store>
STARLING_HD void map_box(int member, int members, bool backwards, index_range zs, index_range ys, index_range xs,
                         const Reads& reads, const Values& values, const Addresses& addresses, const Store& store) {
  if (zs.empty() || ys.empty() || xs.empty()) return;
  target::unforeseen(ys, xs);
  const auto begins = [&](index_t x) {
    return addresses(zs.begin, ys.begin, x) | addresses(zs.begin, ys.begin + 1, x) |
           addresses(zs.begin + 1, ys.begin, x);
  };
  in_steps<T, Elements, Vectors>(xs, begins, [&](const auto& row, auto most) {
    const index_t steps = row.number() * zs.size() * ys.size();
    if (steps < most * members)
      map_small(member, members, zs, ys, row, reads, values, store);
    else
      map_rows<most>(member, members, backwards, zs, ys, row, reads, values, store);
  });
}

}  // namespace detail

// Which way the next map of a kernel goes.
class turns {
 public:
  // Whether backwards.
  STARLING_HD bool next() { return backwards_ = !backwards_; }

 private:
  bool backwards_ = true;
};

template <class T, class Reads, class Values, class Addresses, class Store>
STARLING_HD void map(const block& b, [[maybe_unused]] bool backwards, index_range xs, const Reads& reads,
                     const Values& values, [[maybe_unused]] const Addresses& addresses, const Store& store) {
  if constexpr (detail::goes_in_steps) {
    if (xs.size() <= b.members())
      detail::map_line<1>(b.member(), b.members(), false, detail::steps_of_elements{xs}, reads, values, store);
    else
      detail::in_steps<T, 8, 4>(xs, addresses, [&](const auto& line, auto at_once) {
        detail::map_line<at_once>(b.member(), b.members(), backwards, line, reads, values, store);
      });
  } else {
    b.for_each(xs, [&](index_t x) {
      store(x, reads(one_lane{}, x)([&](const auto&... r) { return values(one_lane{}, x, r...).of[0]; }));
    });
  }
}

template <class T, class Reads, class Values, class Addresses, class Store>
STARLING_HD void map(const block& b, [[maybe_unused]] bool backwards, index_range ys, index_range xs,
                     const Reads& reads, const Values& values, [[maybe_unused]] const Addresses& addresses,
                     const Store& store) {
  if constexpr (detail::goes_in_steps)
    detail::map_box<T, 6, 4>(
        b.member(), b.members(), backwards, {0, 1}, ys, xs,
        [&](const auto& lanes, index_t, index_t y, index_t x) { return reads(lanes, y, x); },
        [&](const auto& lanes, index_t, index_t y, index_t x, const auto&... row) {
          return values(lanes, y, x, row...);
        },
        [&](index_t, index_t y, index_t x) { return addresses(y, x); },
        [&](index_t, index_t y, index_t x, const auto& v) { store(y, x, v); });
  else
    b.for_each(ys, xs, [&](index_t y, index_t x) {
      store(y, x, reads(one_lane{}, y, x)([&](const auto&... row) { return values(one_lane{}, y, x, row...).of[0]; }));
    });
}

template <class T, class Reads, class Values, class Addresses, class Store>
STARLING_HD void map(const block& b, [[maybe_unused]] bool backwards, index_range zs, index_range ys, index_range xs,
                     const Reads& reads, const Values& values, [[maybe_unused]] const Addresses& addresses,
                     const Store& store) {
  if constexpr (detail::goes_in_steps)
    detail::map_box<T, 8, 4>(b.member(), b.members(), backwards, zs, ys, xs, reads, values, addresses, store);
  else
    b.for_each(zs, ys, xs, [&](index_t z, index_t y, index_t x) {
      store(z, y, x,
            reads(one_lane{}, z, y, x)([&](const auto&... row) { return values(one_lane{}, z, y, x, row...).of[0]; }));
    });
}

}  // namespace starling::generated
