// How the cells of a two-dimensional box lie in memory when several steps are made in one pass over it, and how a pass
// is partitioned among warps: plain data and arithmetic that kernels and host share.
//
// Around the box there is a ghost zone of `depth` layers where neighbours exchange. A warp streams down a strip:
// columns side by side, one row after the other. With each step that a pass makes, a column less is known at either
// side of what was loaded, so strips overlap by twice the margin. A strip's rows are cut into segments, an item of work
// each.
#pragma once

#include "stencil/core/cell_vector.hpp"
#include "stencil/core/geometry.hpp"

namespace starling::stencil {

struct strip_layout {
  int depth = 1;               // layers of the ghost zone, and steps of a pass at most
  int margin = 0;              // columns of a strip at either side that are not its own
  int columns = 0;             // that are
  int segments = 1;            // of a strip
  int dirichlet_segments = 1;  // of one with Dirichlet columns, which is more work
  index_t pitch = 0;
  index_t origin = 0;    // of cell (0, 0)
  index_t elements = 0;  // of one array

  constexpr index_t at(index_t y, index_t x) const { return origin + y * pitch + x; }
  constexpr int strips(const box& own) const { return static_cast<int>(ceil_div(own.extent[2], index_t{columns})); }
  // A strip loads columns from here on.
  constexpr index_t first_column(int strip) const { return index_t{strip} * columns - margin; }

  // Whether a column that the strip loads is Dirichlet: its steps look at each column then.
  constexpr bool has_dirichlet_columns(const box& own, int strip) const {
    const index_t first = first_column(strip);
    return (own.updated[2].begin > 0 && first < own.updated[2].begin) ||
           (own.updated[2].end < own.extent[2] && first + columns + 2 * margin > own.updated[2].end);
  }
  constexpr int segments_of(const box& own, int strip) const {
    return has_dirichlet_columns(own, strip) ? dirichlet_segments : segments;
  }
};

}  // namespace starling::stencil
