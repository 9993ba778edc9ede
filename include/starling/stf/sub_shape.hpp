// What partitions make of shapes: strided<Shape>, every step-th coordinate, and tiles_of<Rank>, every count-th tile of
// the slowest dimension. Both are shapes.
#pragma once

#include <cstdint>

#include "starling/stf/shape.hpp"

namespace starling::stf {

// Coordinates first, first + step, first + 2 step ... of a shape, `count` of them.
template <shape_like Shape>
class strided {
 public:
  using coords_t = typename Shape::coords_t;

  strided() = default;
  STARLING_HD constexpr strided(const Shape& whole, index_t first, index_t step, index_t count)
      : whole_(whole), first_(first), step_(step), count_(count) {}

  STARLING_HD static constexpr int rank() { return Shape::rank(); }
  STARLING_HD constexpr index_t size() const { return count_; }
  STARLING_HD constexpr coords_t index_to_coords(index_t i) const { return whole_.index_to_coords(first_ + i * step_); }
  STARLING_HD constexpr index_t coords_to_index(const coords_t& c) const
    requires invertible_shape<Shape>
  {
    return (whole_.coords_to_index(c) - first_) / step_;
  }

  STARLING_HD constexpr auto begin() const { return at(0); }
  STARLING_HD constexpr auto end() const { return at(count_); }

  // Elements first, first + step ... of this one, as a part of the same whole.
  STARLING_HD constexpr strided part(index_t first, index_t step, index_t count) const {
    return {whole_, first_ + first * step_, step_ * step, count};
  }
  // As box::walk.
  STARLING_HD constexpr auto walk(index_t first, index_t step, index_t count) const
    requires requires(const Shape& s) { s.walk(first, step, count); }
  {
    return whole_.walk(first_ + first * step_, step_ * step, count);
  }

 private:
  STARLING_HD constexpr auto at(index_t i) const {
    if constexpr (requires { whole_.walk(first_, step_, count_); }) {
      const auto all = whole_.walk(first_, step_, count_);
      return i == 0 ? all.begin() : all.end();
    } else {
      return shape_iterator<strided>(*this, i);
    }
  }

  Shape whole_{};
  index_t first_ = 0;
  index_t step_ = 1;
  index_t count_ = 0;
};

// Tiles of `thickness` consecutive indices of the slowest dimension: tile which, which + count, which + 2 count ...
template <int Rank, class Box = box<Rank>>
class tiles_of {
 public:
  using coords_t = coords<Rank>;

  tiles_of() = default;
  STARLING_HD constexpr tiles_of(const Box& whole, index_t thickness, index_t which, index_t count)
      : whole_(whole), thickness_(thickness), which_(which), count_(count) {
    const index_t rows = whole.extent(Box::slowest);
    const index_t round = thickness * count;
    const index_t begin = which * thickness;
    const index_t last = rows - rows / round * round;  // rows of the last, incomplete round
    const index_t mine = last < begin ? 0 : (last - begin < thickness ? last - begin : thickness);
    rows_ = rows / round * thickness + mine;
  }

  STARLING_HD static constexpr int rank() { return Rank; }
  STARLING_HD constexpr index_t size() const { return rows_ == 0 ? 0 : rows_ * row_size(); }
  STARLING_HD constexpr coords_t index_to_coords(index_t i) const {
    const index_t n = row_size() > 0 ? row_size() : 1;
    const index_t row = i / n;
    coords_t c = whole_.index_to_coords(i - row * n);
    c[Box::slowest] += row_of(row);
    return c;
  }
  STARLING_HD constexpr index_t coords_to_index(const coords_t& c) const {
    const index_t row = c[Box::slowest] - whole_.lower(Box::slowest);
    const index_t tile = row / thickness_;
    coords_t in_row = c;
    in_row[Box::slowest] = whole_.lower(Box::slowest);
    return (tile / count_ * thickness_ + row % thickness_) * row_size() + whole_.coords_to_index(in_row);
  }

  STARLING_HD constexpr shape_iterator<tiles_of> begin() const { return {*this, 0}; }
  STARLING_HD constexpr shape_iterator<tiles_of> end() const { return {*this, size()}; }

  // The tiles, for loops without a division per element.
  STARLING_HD constexpr index_t pieces() const { return ceil_div(rows_, thickness_); }
  STARLING_HD constexpr Box piece(index_t p) const {
    const index_t first = row_of(p * thickness_);
    const index_t left = rows_ - p * thickness_;
    index_range r[Rank];
    for (int d = 0; d < Rank; ++d) r[d] = whole_.range(d);
    index_range& rows = r[Box::slowest];
    rows.begin += first;
    rows.end = rows.begin + (left < thickness_ ? left : thickness_);
    return Box(box<Rank>(r));
  }

 private:
  STARLING_HD constexpr index_t row_size() const {
    std::uint64_t n = 1;  // as in box::elements
    for (int d = 0; d < Rank; ++d) n *= d == Box::slowest ? 1 : static_cast<std::uint64_t>(whole_.extent(d));
    return static_cast<index_t>(n);
  }
  // Row number `row` of these tiles, as one of the whole.
  STARLING_HD constexpr index_t row_of(index_t row) const {
    const index_t tile = row / thickness_;
    return (tile * count_ + which_) * thickness_ + (row - tile * thickness_);
  }

  Box whole_{};
  index_t thickness_ = 1;
  index_t which_ = 0;
  index_t count_ = 1;
  index_t rows_ = 0;
};

}  // namespace starling::stf
