// Shapes: the full size and layout of data, or of a loop, without the data. box<Rank> is the one for arrays. A shape is
// whatever satisfies shape_like, so users may add their own. On the host a box that makes no sense is an
// argument_error.
#pragma once

#include <concepts>
#include <initializer_list>

#include "starling/base/view.hpp"
#include "starling/stf/detail/element_order.hpp"
#include "starling/stf/detail/odometer.hpp"

namespace starling::stf {

template <class S>
concept shape_like = std::copyable<S> && requires(const S& s, index_t i) {
  typename S::coords_t;
  { S::rank() } -> std::convertible_to<int>;
  { s.size() } -> std::convertible_to<index_t>;                    // number of coordinates
  { s.index_to_coords(i) } -> std::same_as<typename S::coords_t>;  // 0 <= i < size(), every coordinate once
};

// Shapes that can say which number a coordinate has: what partition::owner needs.
template <class S>
concept invertible_shape = shape_like<S> && requires(const S& s, const typename S::coords_t& c) {
  { s.coords_to_index(c) } -> std::convertible_to<index_t>;
};

// Throw argument_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_range(int dimension, index_t lower, index_t upper);
[[noreturn]] void refuse_size(const index_t* extents, int rank);
[[noreturn]] void refuse_ranges(std::size_t given, int rank);
[[noreturn]] void refuse_margin(index_t n);

inline constexpr int most_dimensions = 8;

// Where a dimension of a box begins and ends: two numbers in braces, of any integral types.
class bounds {
 public:
  template <std::integral Lower, std::integral Upper>
  STARLING_HD constexpr bounds(Lower lower, Upper upper)
      : range_{static_cast<index_t>(lower), static_cast<index_t>(upper)} {}
  STARLING_HD constexpr index_range range() const { return range_; }

 private:
  index_range range_;
};

// A half-open range for each dimension; the last one is the fastest.
template <int Rank>
class box {
 public:
  static_assert(Rank >= 1 && Rank <= most_dimensions, "a box has 1 to 8 dimensions");
  using coords_t = coords<Rank>;
  using iterator = odometer_iterator<Rank>;
  static constexpr int slowest = 0;  // dimension

  constexpr box() = default;

  // box(n, m): from 0 to n and from 0 to m.
  template <std::integral... Extents>
    requires(sizeof...(Extents) == Rank)
  STARLING_HD constexpr explicit box(Extents... extents) {
    int d = 0;
    (set(d++, {0, static_cast<index_t>(extents)}), ...);
    check_size();
  }
  // box(index_range{1, n - 1}, index_range{0, m}).
  template <std::same_as<index_range>... Ranges>
    requires(sizeof...(Ranges) == Rank)
  STARLING_HD constexpr explicit box(Ranges... ranges) {
    int d = 0;
    (set(d++, ranges), ...);
    check_size();
  }
  // box({1, n - 1}, {0, m}): from the first number to before the second. Up to 4 dimensions; for more, ranges.
  STARLING_HD constexpr explicit box(bounds b)
    requires(Rank == 1)
      : box({b.range()}, from_ranges()) {}
  STARLING_HD constexpr explicit box(bounds b, bounds c)
    requires(Rank == 2)
      : box({b.range(), c.range()}, from_ranges()) {}
  STARLING_HD constexpr explicit box(bounds b, bounds c, bounds d)
    requires(Rank == 3)
      : box({b.range(), c.range(), d.range()}, from_ranges()) {}
  STARLING_HD constexpr explicit box(bounds b, bounds c, bounds d, bounds e)
    requires(Rank == 4)
      : box({b.range(), c.range(), d.range(), e.range()}, from_ranges()) {}
  // box({{1, n - 1}, {0, m}}).
  STARLING_HD constexpr explicit box(const index_range (&ranges)[Rank]) : box(ranges, from_ranges()) {}
  // Braces alone: without this they might as well be a box that is copied.
  STARLING_HD constexpr explicit box(std::initializer_list<index_range> ranges) {
    if constexpr (!target::on_gpu)
      if (ranges.size() != static_cast<std::size_t>(Rank)) refuse_ranges(ranges.size(), Rank);
    int d = 0;
    for (const index_range& r : ranges)
      if (d < Rank) set(d++, r);
    check_size();
  }

  STARLING_HD static constexpr int rank() { return Rank; }
  STARLING_HD constexpr index_t size() const { return elements(0); }
  // Without the dimensions before `first`: of a row, where that is 1.
  STARLING_HD constexpr index_t elements(int first) const {
    std::uint64_t n = 1;  // an empty box may have sides whose product is too large
    for (int d = first; d < Rank; ++d) n *= static_cast<std::uint64_t>(extent_[d]);
    return static_cast<index_t>(n);
  }
  STARLING_HD constexpr index_t extent(int d) const { return extent_[d]; }
  STARLING_HD constexpr index_t lower(int d) const { return lower_[d]; }
  STARLING_HD constexpr index_t upper(int d) const { return lower_[d] + extent_[d]; }
  STARLING_HD constexpr index_range range(int d) const { return {lower(d), upper(d)}; }

  STARLING_HD constexpr coords_t index_to_coords(index_t i) const {
    coords_t c = digits_of<Rank>(i, extent_);
    for (int d = 0; d < Rank; ++d) c[d] += lower_[d];
    return c;
  }
  STARLING_HD constexpr index_t coords_to_index(const coords_t& c) const {
    index_t i = 0;
    for (int d = 0; d < Rank; ++d) i = i * extent_[d] + (c[d] - lower_[d]);
    return i;
  }
  STARLING_HD constexpr bool contains(const coords_t& c) const {
    bool inside = true;
    for (int d = 0; d < Rank; ++d) inside = inside && c[d] >= lower(d) && c[d] < upper(d);
    return inside;
  }

  // Over the coordinates: for (auto [i, j] : s). No division per element.
  STARLING_HD constexpr iterator begin() const { return walk(0, 1, size()).begin(); }
  STARLING_HD constexpr iterator end() const { return walk(0, 1, size()).end(); }
  // Over the coordinates of first, first + step, first + 2 step ..., `count` of them.
  STARLING_HD constexpr odometer_range<Rank> walk(index_t first, index_t step, index_t count) const {
    return {lower_, extent_, first, step, count};
  }

  STARLING_HD friend constexpr bool operator==(const box& a, const box& b) {
    bool same = true;
    for (int d = 0; d < Rank; ++d) same = same && a.range(d) == b.range(d);
    return same;
  }

 private:
  struct from_ranges {};
  STARLING_HD constexpr box(const index_range (&ranges)[Rank], from_ranges) {
    for (int d = 0; d < Rank; ++d) set(d, ranges[d]);
    check_size();
  }
  STARLING_HD constexpr void set(int d, index_range r) {
    if constexpr (!target::on_gpu) {
      index_t n = 0;
      if (r.end < r.begin || __builtin_sub_overflow(r.end, r.begin, &n)) refuse_range(d, r.begin, r.end);
    }
    lower_[d] = r.begin;
    extent_[d] = r.end - r.begin;
  }
  STARLING_HD constexpr void check_size() const {
    if constexpr (!target::on_gpu) {
      index_t n = 1;
      bool fits = true;
      for (int d = 0; d < Rank; ++d) fits = !__builtin_mul_overflow(n, extent_[d], &n) && fits;
      for (int d = 0; d < Rank; ++d) fits = fits || extent_[d] == 0;
      if (!fits) refuse_size(extent_, Rank);
    }
  }

  index_t lower_[Rank] = {};
  index_t extent_[Rank] = {};
};

// A box whose first dimension is the fastest, as in column-major arrays: its coordinates are numbered in that order,
// and what cuts a box across its slowest dimension cuts this one across the last.
template <int Rank>
class column_box : public box<Rank> {
 public:
  using coords_t = coords<Rank>;
  using iterator = odometer_iterator<Rank, true>;
  static constexpr int slowest = Rank - 1;

  constexpr column_box() = default;
  STARLING_HD constexpr explicit column_box(const box<Rank>& ranges) : box<Rank>(ranges) {}

  STARLING_HD constexpr coords_t index_to_coords(index_t i) const { return turned(turned().index_to_coords(i)); }
  STARLING_HD constexpr index_t coords_to_index(const coords_t& c) const { return turned().coords_to_index(turned(c)); }

  STARLING_HD constexpr iterator begin() const { return walk(0, 1, this->size()).begin(); }
  STARLING_HD constexpr iterator end() const { return walk(0, 1, this->size()).end(); }
  STARLING_HD constexpr odometer_range<Rank, true> walk(index_t first, index_t step, index_t count) const {
    index_t lower[Rank];
    index_t extent[Rank];
    for (int d = 0; d < Rank; ++d) {
      lower[d] = this->lower(d);
      extent[d] = this->extent(d);
    }
    return {lower, extent, first, step, count};
  }

  // The dimensions in opposite order, whose coordinates are numbered alike.
  STARLING_HD constexpr box<Rank> turned() const {
    index_range r[Rank];
    for (int d = 0; d < Rank; ++d) r[d] = this->range(Rank - 1 - d);
    return box<Rank>(r);
  }
  STARLING_HD static constexpr coords_t turned(const coords_t& c) {
    coords_t other{};
    for (int d = 0; d < Rank; ++d) other[d] = c[Rank - 1 - d];
    return other;
  }
};

// The box of arrays of a layout.
template <int Rank, class Layout>
using box_of_layout =
    std::conditional_t<Rank >= 2 && order_of<Layout> == element_order::column_major, column_box<Rank>, box<Rank>>;

template <std::integral... Extents>
box(Extents...) -> box<static_cast<int>(sizeof...(Extents))>;
template <std::same_as<index_range>... Ranges>
box(Ranges...) -> box<static_cast<int>(sizeof...(Ranges))>;
template <int Rank>
box(const index_range (&)[Rank]) -> box<Rank>;
box(bounds) -> box<1>;
box(bounds, bounds) -> box<2>;
box(bounds, bounds, bounds) -> box<3>;
box(bounds, bounds, bounds, bounds) -> box<4>;

// The coordinates of a shape that have at least n others before and after them in each dimension; none where a
// dimension has too few.
template <int Rank>
STARLING_HD constexpr box<Rank> inner(const box<Rank>& s, index_t n) {
  if constexpr (!target::on_gpu)
    if (n < 0) refuse_margin(n);
  index_range r[Rank];
  for (int d = 0; d < Rank; ++d) {
    // 2 n may be too large a number.
    const bool some = n < s.extent(d) - n;
    r[d] = some ? index_range{s.lower(d) + n, s.upper(d) - n} : index_range{s.lower(d), s.lower(d)};
  }
  return box<Rank>(r);
}
template <int Rank>
STARLING_HD constexpr column_box<Rank> inner(const column_box<Rank>& s, index_t n) {
  return column_box<Rank>(inner(static_cast<const box<Rank>&>(s), n));
}

// The shape of an array: a box from 0.
template <class T, class Extents, class Layout, class Accessor>
STARLING_HD constexpr auto shape(const cuda::std::mdspan<T, Extents, Layout, Accessor>& v) {
  constexpr auto rank = static_cast<int>(Extents::rank());
  index_range r[rank];
  for (int d = 0; d < rank; ++d) r[d] = {0, static_cast<index_t>(v.extent(static_cast<std::size_t>(d)))};
  return box_of_layout<rank, Layout>(box<rank>(r));
}
template <shape_like S>
STARLING_HD constexpr S shape(const S& s) {
  return s;
}

}  // namespace starling::stf
