// Who gets which cells of a box into the ghost zone around their own: plain data and arithmetic that kernels and host
// share.
#pragma once

#include "stencil/core/geometry.hpp"
#include "stencil/temporal/strip_layout.hpp"

namespace starling::stencil {

inline constexpr int most_ghost_peers = 8;

// The box beside one in a direction, diagonal ones too.
struct ghost_peer {
  int pe;
  int rows[2], columns[2];  // [begin, end) of what it gets
  int rows_on, columns_on;  // where in its box that is
};

// Those of a box, into `peers`; how many they are.
constexpr int ghost_peers(const geometry& g, const strip_layout& layout, int pe, ghost_peer* peers) {
  const box own = box_of(g, pe);
  int n = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if (dy == 0 && dx == 0) continue;
      int to = pe;
      if (dy != 0) to = box_of(g, to).neighbour[2 + (dy > 0 ? 1 : 0)];
      if (dx != 0 && to != no_neighbour) to = box_of(g, to).neighbour[4 + (dx > 0 ? 1 : 0)];
      if (to == no_neighbour) continue;
      const box other = box_of(g, to);
      const auto part = [&](int d, int axis, int (&cells)[2], int& on) {
        const auto extent = static_cast<int>(own.extent[axis]);
        cells[0] = d > 0 ? extent - layout.depth : 0;
        cells[1] = d < 0 ? layout.depth : extent;
        on = d < 0 ? static_cast<int>(other.extent[axis]) : d > 0 ? -extent : 0;
      };
      ghost_peer& p = peers[n++];
      p.pe = to;
      part(dy, 1, p.rows, p.rows_on);
      part(dx, 2, p.columns, p.columns_on);
    }
  return n;
}

}  // namespace starling::stencil
