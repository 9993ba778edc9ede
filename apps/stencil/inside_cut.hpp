// How the inside of a box is dealt to the blocks that compute it: plain data and arithmetic that kernels and host
// share.
#pragma once

#include "stencil/geometry.hpp"

namespace starling::stencil {

struct inside_piece {
  index_range zs, ys, xs;

  constexpr bool empty() const { return zs.empty() || ys.empty() || xs.empty(); }
};

// Columns go along z in three dimensions, along y in two. Either each block has one piece at most, which has whole
// rows, since these lie in memory as a whole; or, in two dimensions, blocks take low pieces in turn: those under way at
// a time then lie side by side in memory.
struct inside_cut {
  int along_axis = 1;  // of the columns
  int along = 1;       // pieces along the columns
  int across = 1;      // pieces along y in three dimensions
  int segments = 1;    // into which the threads of a block cut their columns
  int beside = 1;      // low pieces of a row
  int rows = 0;        // of a low piece; 0: there are none
  int columns = 0;     // of a low piece
  int blocks = 1;      // that share the pieces

  constexpr bool in_turn() const { return rows > 0; }
  constexpr int pieces() const { return along * across * beside; }
  constexpr inside_piece piece(const box& own, int index) const {
    inside_piece p{own.inner[0], own.inner[1], own.inner[2]};
    if (p.empty()) return p;
    if (in_turn()) return low_piece(p, index);
    index_range& down = along_axis == 0 ? p.zs : p.ys;
    down = within(down, along, index / across);
    if (along_axis == 0) p.ys = within(p.ys, across, index % across);
    return p;
  }

 private:
  // Cheap, since a piece is soon done.
  constexpr inside_piece low_piece(inside_piece whole, int index) const {
    const index_t row = whole.ys.begin + index_t{index / beside} * rows;
    const index_t column = index_t{index % beside} * columns;
    whole.ys = {row, row + rows < whole.ys.end ? row + rows : whole.ys.end};
    if (whole.xs.begin < column) whole.xs.begin = column;
    if (whole.xs.end > column + columns) whole.xs.end = column + columns;
    return whole;
  }
  static constexpr index_range within(index_range whole, int pieces, int index) {
    const index_range part = share(whole.size(), pieces, index);
    return {whole.begin + part.begin, whole.begin + part.end};
  }
};

// Bytes of an array from which on it is clearly more than the second cache of a GPU holds.
inline constexpr index_t bytes_beyond_cache = 60'000'000;

// The cut for so many blocks of so many threads, each of which does `width` cells side by side. Of arrays with more
// than `cached` bytes in two dimensions blocks take several pieces each, otherwise one at most.
inside_cut cut_inside(const geometry& g, int blocks, int threads, int width, index_t cached = bytes_beyond_cache);

}  // namespace starling::stencil
