// The PEs of a generated program as a grid of rows, numbered row by row, and where one of them stands. The first axis
// that PEs share goes down the rows, the second along a row. One column: PEs along one axis. `Block`: block, or
// host_pe.
#pragma once

#include "starling/program/layers.hpp"

namespace starling::generated {

// A PE that is not there: puts to it do nothing, waits for it pass.
inline constexpr int nobody = -1;

class pe_grid {
 public:
  template <class Block>
  STARLING_HD explicit pe_grid(const Block& b, index_t columns = 1)
      : size_{b.n_pes() / static_cast<int>(columns), static_cast<int>(columns)},
        at_{b.pe() / size_[1], b.pe() % size_[1]} {}

  STARLING_HD int size(int axis) const { return size_[axis]; }

  // The PE that is so many rows down and columns right, or nobody beyond the ends.
  STARLING_HD int neighbour(index_t down, index_t right = 0) const {
    const index_t row = at_[0] + down;
    const index_t column = at_[1] + right;
    return row >= 0 && row < size_[0] && column >= 0 && column < size_[1] ? number(row, column) : nobody;
  }

  // The same where the last row or column is followed by the first.
  STARLING_HD int ring_neighbour(index_t down, index_t right = 0) const {
    return number(wrapped(at_[0] + down, size_[0]), wrapped(at_[1] + right, size_[1]));
  }

  // Of an axis that the PEs share along an axis of the grid: blocks share what a PE has of the first one.
  template <class Block>
  STARLING_HD layers layers_of(const Block& b, index_t length, int axis) const {
    const index_range pe = share(length, size_[axis], at_[axis]);
    if (axis != 0) return {pe, pe};
    const index_range mine = share_of_block(pe.size(), b.blocks_per_pe(), b.index());
    return {pe, {pe.begin + mine.begin, pe.begin + mine.end}};
  }

  // The number of the first layer of such an axis that a PE has.
  STARLING_HD index_t first_of(index_t length, int axis, int pe) const {
    return share(length, size_[axis], axis == 0 ? pe / size_[1] : pe % size_[1]).begin;
  }

  // How many layers of it each PE has memory for, halo included.
  STARLING_HD index_t held(index_t length, int axis, index_t halo) const {
    return ceil_div(length, size_[axis]) + halo;
  }

 private:
  STARLING_HD int number(index_t row, index_t column) const { return static_cast<int>(row * size_[1] + column); }
  STARLING_HD static index_t wrapped(index_t k, index_t n) { return (k % n + n) % n; }

  int size_[2];
  int at_[2];
};

// The PE that is so many numbers further, where the last is followed by the first.
template <class Block>
STARLING_HD int next_by_number(const Block& b, index_t step) {
  const index_t n = b.n_pes();
  return static_cast<int>(((b.pe() + step) % n + n) % n);
}

}  // namespace starling::generated
