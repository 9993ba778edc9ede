// Shapes: the full size and layout of data, or of a loop, without the data. box<Rank> is the one for arrays. A shape is
// whatever satisfies shape_like, so users may add their own. On the host a box that makes no sense is an
// argument_error.
#pragma once

#include <concepts>

#include "starling/base/view.hpp"
#include "starling/stf/odometer.hpp"

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

// A half-open range for each dimension; the last one is the fastest.
template <int Rank>
class box {
 public:
  static_assert(Rank >= 1 && Rank <= 8, "a box has 1 to 8 dimensions");
  using coords_t = coords<Rank>;
  using iterator = odometer_iterator<Rank>;

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
  // box({{1, n - 1}, {0, m}}).
  STARLING_HD constexpr explicit box(const index_range (&ranges)[Rank]) {
    for (int d = 0; d < Rank; ++d) set(d, ranges[d]);
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

template <std::integral... Extents>
box(Extents...) -> box<static_cast<int>(sizeof...(Extents))>;
template <std::same_as<index_range>... Ranges>
box(Ranges...) -> box<static_cast<int>(sizeof...(Ranges))>;
template <int Rank>
box(const index_range (&)[Rank]) -> box<Rank>;

// The shape of an array: a box from 0.
template <class T, class Extents, class Layout, class Accessor>
STARLING_HD constexpr box<static_cast<int>(Extents::rank())> shape(
    const cuda::std::mdspan<T, Extents, Layout, Accessor>& v) {
  index_range r[Extents::rank()];
  for (std::size_t d = 0; d < Extents::rank(); ++d) r[d] = {0, static_cast<index_t>(v.extent(d))};
  return box<static_cast<int>(Extents::rank())>(r);
}
template <shape_like S>
STARLING_HD constexpr S shape(const S& s) {
  return s;
}

}  // namespace starling::stf
