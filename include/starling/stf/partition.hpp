// Partitioners deal the coordinates of a shape to `count` owners. Each has two sides that agree: part(shape, which,
// count), the sub-shape of one owner, and owner(coords, shape, count), the owner of one coordinate; every coordinate
// has exactly one. Users may add their own: a copyable type with these two functions. On the host an owner that does
// not exist, and a dimension that the shape lacks, are argument_errors.
#pragma once

#include "starling/stf/sub_shape.hpp"

namespace starling::stf {

// Throw argument_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_owner(index_t which, index_t count);
[[noreturn]] void refuse_dimension(int dimension, int rank);

template <class P, class Shape>
concept partitioner_of = std::copyable<P> && shape_like<Shape> && requires(const P& p, const Shape& s, index_t i) {
  { p.part(s, i, i) } -> shape_like;
};

namespace detail {

STARLING_HD constexpr void check_owner(index_t which, index_t count) {
  if (count >= 1 && which >= 0 && which < count) return;
  if constexpr (!target::on_gpu) refuse_owner(which, count);
}

// The inverse of share(): who of `parts` has item x of n.
STARLING_HD constexpr index_t sharer(index_t n, index_t parts, index_t x) {
  const index_t each = n / parts;
  const index_t more = n % parts;
  const index_t in_larger = more * (each + 1);
  return x < in_larger ? x / (each + 1) : more + (x - in_larger) / each;
}

template <class Shape>
inline constexpr bool is_strided = false;
template <class Shape>
inline constexpr bool is_strided<strided<Shape>> = true;

// Every step-th of a shape's coordinates, by their numbers; parts of parts stay parts of the same whole.
template <class Shape>
STARLING_HD constexpr auto every(const Shape& s, index_t first, index_t step, index_t count) {
  if constexpr (is_strided<Shape>)
    return s.part(first, step, count);
  else
    return strided<Shape>(s, first, step, count);
}

// Numbers from r.begin to r.end of a shape's coordinates.
template <class Shape>
STARLING_HD constexpr auto numbers(const Shape& s, index_range r) {
  return every(s, r.begin, 1, r.size());
}

// Numbers which, which + count, ...
template <class Shape>
STARLING_HD constexpr auto round_robin(const Shape& s, index_t which, index_t count) {
  const index_t n = s.size();
  return every(s, which, count, which < n ? (n - which - 1) / count + 1 : 0);
}

// Shapes derived from a box are dealt as the box.
template <int Rank>
STARLING_HD constexpr const box<Rank>& as_box(const box<Rank>& b) {
  return b;
}
template <class Shape>
concept box_like = requires(const Shape& s) { as_box(s); };

}  // namespace detail

// Contiguous parts, in order, whose sizes differ by at most one index: of a box along one dimension, by default the
// slowest; of another shape by its numbers.
struct blocked {
  int dimension = 0;

  template <int Rank>
  STARLING_HD constexpr box<Rank> part(const box<Rank>& s, index_t which, index_t count) const {
    check(Rank);
    detail::check_owner(which, count);
    index_range r[Rank];
    for (int d = 0; d < Rank; ++d) {
      r[d] = s.range(d);
      if (d != dimension) continue;
      const index_range mine = share(s.extent(d), count, which);
      r[d] = {s.lower(d) + mine.begin, s.lower(d) + mine.end};
    }
    return box<Rank>(r);
  }
  template <shape_like Shape>
    requires(!detail::box_like<Shape>)
  STARLING_HD constexpr auto part(const Shape& s, index_t which, index_t count) const {
    check(1);
    detail::check_owner(which, count);
    return detail::numbers(s, share(s.size(), count, which));
  }

  template <int Rank>
  STARLING_HD constexpr index_t owner(const coords<Rank>& c, const box<Rank>& s, index_t count) const {
    check(Rank);
    detail::check_owner(0, count);
    index_t x = 0;
    index_t n = 1;
    for (int d = 0; d < Rank; ++d) {
      if (d != dimension) continue;
      x = c[d] - s.lower(d);
      n = s.extent(d);
    }
    return detail::sharer(n, count, x);
  }
  template <invertible_shape Shape>
    requires(!detail::box_like<Shape>)
  STARLING_HD constexpr index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    check(1);
    detail::check_owner(0, count);
    return detail::sharer(s.size(), count, s.coords_to_index(c));
  }

 private:
  STARLING_HD constexpr void check(int rank) const {
    if (dimension >= 0 && dimension < rank) return;
    if constexpr (!target::on_gpu) refuse_dimension(dimension, rank);
  }
};

// Coordinates one after the other, as they are numbered, go to one owner after the other.
struct cyclic {
  template <shape_like Shape>
  STARLING_HD constexpr auto part(const Shape& s, index_t which, index_t count) const {
    detail::check_owner(which, count);
    if constexpr (detail::box_like<Shape>)
      return detail::round_robin(detail::as_box(s), which, count);
    else
      return detail::round_robin(s, which, count);
  }
  template <invertible_shape Shape>
  STARLING_HD constexpr index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    detail::check_owner(0, count);
    return s.coords_to_index(c) % count;
  }
};

// Tiles of N consecutive indices of a box's slowest dimension go to one owner after the other.
template <index_t N>
struct tiled {
  static_assert(N >= 1, "tiled<N>: tiles have at least one index");

  template <int Rank>
  STARLING_HD constexpr tiles_of<Rank> part(const box<Rank>& s, index_t which, index_t count) const {
    detail::check_owner(which, count);
    return {s, N, which, count};
  }
  template <int Rank>
  STARLING_HD constexpr index_t owner(const coords<Rank>& c, const box<Rank>& s, index_t count) const {
    detail::check_owner(0, count);
    return (c[0] - s.lower(0)) / N % count;
  }
};

}  // namespace starling::stf
