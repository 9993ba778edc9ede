// Partitioners divide the coordinates of a shape among `count` owners. Each has two sides that agree: part(shape,
// which, count), the sub-shape of one owner, and owner(coords, shape, count), the owner of one coordinate; every
// coordinate has exactly one. Users may add their own: a copyable type with these two functions. On the host an owner
// that does not exist, and a dimension that the shape lacks, are argument_errors.
#pragma once

#include <limits>
#include <type_traits>
#include <utility>

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

// Shapes derived from a box are partitioned as the box.
template <int Rank>
STARLING_HD constexpr const box<Rank>& as_box(const box<Rank>& b) {
  return b;
}
template <int Rank>
STARLING_HD constexpr const column_box<Rank>& as_box(const column_box<Rank>& b) {
  return b;
}
template <class Shape>
concept box_like = requires(const Shape& s) { as_box(s); };
template <box_like Shape>
using box_type_of = std::remove_cvref_t<decltype(as_box(std::declval<const Shape&>()))>;

}  // namespace detail

// Contiguous parts, in order, whose sizes differ by at most one index: of a box along one dimension, by default the
// slowest, which in the shape of a column-major array is the last; of another shape by its numbers.
struct blocked {
  static constexpr int slowest = std::numeric_limits<int>::min();  // whichever that is

  int dimension = slowest;

  template <detail::box_like Shape>
  STARLING_HD constexpr auto part(const Shape& s, index_t which, index_t count) const {
    using box_type = detail::box_type_of<Shape>;
    constexpr int rank = box_type::rank();
    const int along = check(rank, box_type::slowest);
    detail::check_owner(which, count);
    index_range r[rank];
    for (int d = 0; d < rank; ++d) {
      r[d] = s.range(d);
      if (d != along) continue;
      const index_range mine = share(s.extent(d), count, which);
      r[d] = {s.lower(d) + mine.begin, s.lower(d) + mine.end};
    }
    return box_type(box<rank>(r));
  }
  template <shape_like Shape>
    requires(!detail::box_like<Shape>)
  STARLING_HD constexpr auto part(const Shape& s, index_t which, index_t count) const {
    (void)check(1, 0);
    detail::check_owner(which, count);
    return detail::numbers(s, share(s.size(), count, which));
  }

  template <detail::box_like Shape>
  STARLING_HD constexpr index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    const int along = check(Shape::rank(), detail::box_type_of<Shape>::slowest);
    detail::check_owner(0, count);
    index_t x = 0;
    index_t n = 1;
    for (int d = 0; d < Shape::rank(); ++d) {
      if (d != along) continue;
      x = c[d] - s.lower(d);
      n = s.extent(d);
    }
    return detail::sharer(n, count, x);
  }
  template <invertible_shape Shape>
    requires(!detail::box_like<Shape>)
  STARLING_HD constexpr index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    (void)check(1, 0);
    detail::check_owner(0, count);
    return detail::sharer(s.size(), count, s.coords_to_index(c));
  }

 private:
  // The dimension that is meant.
  STARLING_HD constexpr int check(int rank, int slowest_of_shape) const {
    if (dimension == slowest) return slowest_of_shape;
    if (dimension >= 0 && dimension < rank) return dimension;
    if constexpr (!target::on_gpu) refuse_dimension(dimension, rank);
    return dimension;
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

  template <detail::box_like Shape>
  STARLING_HD constexpr auto part(const Shape& s, index_t which, index_t count) const {
    using box_type = detail::box_type_of<Shape>;
    detail::check_owner(which, count);
    return tiles_of<box_type::rank(), box_type>(detail::as_box(s), N, which, count);
  }
  template <detail::box_like Shape>
  STARLING_HD constexpr index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    constexpr int d = detail::box_type_of<Shape>::slowest;
    detail::check_owner(0, count);
    return (c[d] - s.lower(d)) / N % count;
  }
};

}  // namespace starling::stf
