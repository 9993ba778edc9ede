// How the inside of a box is dealt to the blocks that compute it: plain data and arithmetic that kernels and host
// share.
#pragma once

#include "stencil/geometry.hpp"

namespace starling::stencil {

struct inside_piece {
  index_range zs, ys, xs;

  constexpr bool empty() const { return zs.empty() || ys.empty() || xs.empty(); }
};

// Columns go along z in three dimensions, along y in two. Rows are never cut: they lie in memory as a whole.
struct inside_cut {
  int along_axis = 1;  // of the columns
  int along = 1;       // pieces along the columns
  int across = 1;      // pieces along y in three dimensions
  int segments = 1;    // into which the threads of a block cut their columns

  constexpr int pieces() const { return along * across; }
  constexpr inside_piece piece(const box& own, int index) const {
    inside_piece p{own.inner[0], own.inner[1], own.inner[2]};
    if (p.empty()) return p;
    index_range& columns = along_axis == 0 ? p.zs : p.ys;
    columns = within(columns, along, index / across);
    if (along_axis == 0) p.ys = within(p.ys, across, index % across);
    return p;
  }

 private:
  static constexpr index_range within(index_range whole, int pieces, int index) {
    const index_range part = share(whole.size(), pieces, index);
    return {whole.begin + part.begin, whole.begin + part.end};
  }
};

// The cut for so many blocks of so many threads, each of which does `width` cells side by side.
inside_cut cut_inside(const geometry& g, int blocks, int threads, int width);

}  // namespace starling::stencil
