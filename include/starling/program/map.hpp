// map: computes the elements of a range and stores them, the elements spread over the threads of a block. No element
// may need what the same map stores.
//
// Of a map
//   backwards             which way it goes (`turns`);
//   reads(lanes, y, x)    the rows (rows.hpp) that are read for as many elements as there are lanes, from (y, x) on, x
//                         fastest;
//   values(lanes, y, x, row...)   computes these elements;
//   addresses(y, x)       of what is stored to and of what these rows begin with (row_addresses);
//   store(y, x, v)        stores a value, or those of all lanes of a vector.
//
// A thread of a GPU computes vectors where all rows begin with one, and stores them whole: a load or store of 16 bytes
// costs a multiprocessor as much as one of 4. It asks for the rows of several elements before it computes the first, so
// that all these loads are under way at the same time; rows that are neighbours have many of them in common.
//
// Every other map of a kernel goes backwards through its rows: it begins with what the one before stored last, which
// the L2 cache may still have.
#pragma once

#include "starling/program/layers.hpp"
#include "starling/program/rows.hpp"

namespace starling::generated {

namespace detail {

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

// f(steps, AtOnce) by vectors, if all that they begin with are multiples of 16 bytes, else by elements. `begins(x)`:
// what those from x on begin with; T: of what is stored.
template <class T, int Elements, int Vectors, class Begins, class F>
STARLING_HD void in_steps(index_range xs, const Begins& begins, const F& f) {
  constexpr int n = lanes_of_vector<T>;
  const index_t first = xs.begin - static_cast<index_t>(begins(xs.begin).stored / sizeof(T) % n);
  if (n > 1 && begins(first).all % 16 == 0)
    f(steps_of_vectors<n>{xs, first}, std::integral_constant<int, Vectors>{});
  else
    f(steps_of_elements{xs}, std::integral_constant<int, Elements>{});
}

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
  const index_t span = index_t{AtOnce} * members, rounds = ceil_div(line.number(), span);
  for (index_t round = 0; round < rounds; ++round) {
    const index_t begin = (backwards ? rounds - 1 - round : round) * span;
    map_up_to<AtOnce>(begin + member, least(begin + span, line.number()), members, read, value, keep);
  }
}

// What the threads of a block share out: steps along the rows of a box, each of an element or a vector, in all of its
// planes and batches of rows. Dealt in turn, steps fastest, so that threads that are neighbours load neighbours.
struct row_item {
  int step;
  index_t plane, batch;

  STARLING_HD static row_item number(int i, int steps, index_t planes) {
    const int row = i / steps;
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
      index_t y = ys.begin + Rows * (backwards ? batches - 1 - i.batch : i.batch);
      if (y + Rows <= ys.end) {
        map_some<Rows>(y, one, read, value, keep);
        continue;
      }
#pragma unroll 1
      for (; y < ys.end; ++y) map_some<1>(y, one, read, value, keep);
    }
  }
}

// A box by all threads of a block of a GPU, as many rows at a time as registers allow where there are enough for all
// threads, else two. Addresses grow evenly with z and y: if those of the first row, and of the rows beside it and above
// it, are multiples of 16 bytes, so are all.
template <class T, int Elements, int Vectors, class Reads, class Values, class Addresses, class Store>
STARLING_HD void map_box(int member, int members, bool backwards, index_range zs, index_range ys, index_range xs,
                         const Reads& reads, const Values& values, const Addresses& addresses, const Store& store) {
  if (zs.empty() || ys.empty() || xs.empty()) return;
  const auto begins = [&](index_t x) {
    const row_addresses here = addresses(zs.begin, ys.begin, x);
    return row_addresses{
        here.stored, here.all | addresses(zs.begin, ys.begin + 1, x).all | addresses(zs.begin + 1, ys.begin, x).all};
  };
  in_steps<T, Elements, Vectors>(xs, begins, [&](const auto& row, auto most) {
    if (row.number() * zs.size() * ys.size() >= most * members)
      map_rows<most>(member, members, backwards, zs, ys, row, reads, values, store);
    else
      map_rows<2>(member, members, backwards, zs, ys, row, reads, values, store);
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
  if constexpr (target::on_gpu) {
    if (!xs.empty())
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
  if constexpr (target::on_gpu)
    detail::map_box<T, 8, 4>(
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
  if constexpr (target::on_gpu)
    detail::map_box<T, 8, 4>(b.member(), b.members(), backwards, zs, ys, xs, reads, values, addresses, store);
  else
    b.for_each(zs, ys, xs, [&](index_t z, index_t y, index_t x) {
      store(z, y, x,
            reads(one_lane{}, z, y, x)([&](const auto&... row) { return values(one_lane{}, z, y, x, row...).of[0]; }));
    });
}

}  // namespace starling::generated
