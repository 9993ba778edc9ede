// How a domain is partitioned among PEs: plain data and arithmetic that kernels and host share.
//
// Arrays are three-dimensional in (z, y, x) order, x fastest; a two-dimensional domain has z extent 1 and no z
// neighbours. A PE owns a box of cells. Where the box has a neighbour, it has a face: its outermost layer of cells on
// that side, whose values the neighbour needs. Face 2a is the low side of axis a, face 2a + 1 the high side.
#pragma once

#include "starling/base/index.hpp"

namespace starling::stencil {

inline constexpr int axes = 3;
inline constexpr int faces = 2 * axes;
inline constexpr int no_neighbour = -1;

// The domain and the grid of PEs over it.
struct geometry {
  index_t extent[axes] = {1, 1, 1};
  int parts[axes] = {1, 1, 1};
  bool active[axes] = {false, true, true};      // false: z of a two-dimensional domain
  bool periodic[axes] = {false, false, false};  // otherwise the first and last layer are Dirichlet cells

  // Elements between neighbours in the memory of a PE, along each axis; the same on every PE.
  index_t stride[axes] = {0, 0, 1};

  constexpr bool exchanges(int axis) const { return active[axis] && (parts[axis] > 1 || periodic[axis]); }
  // Faces that some PE exchanges, and the i-th of them.
  constexpr int exchanged_faces() const {
    int n = 0;
    for (int a = 0; a < axes; ++a) n += exchanges(a) ? 2 : 0;
    return n;
  }
  constexpr int exchanged_face(int i) const {
    int face = 0;
    while (!exchanges(face / 2) || i-- > 0) ++face;
    return face;
  }
  constexpr int n_pes() const { return parts[0] * parts[1] * parts[2]; }
  // The largest box of any PE, along one axis.
  constexpr index_t largest(int axis) const { return ceil_div(extent[axis], parts[axis]); }
  // Cells of the largest face across an axis.
  constexpr index_t face_cells(int axis) const {
    index_t cells = 1;
    for (int a = 0; a < axes; ++a)
      if (a != axis) cells *= largest(a);
    return cells;
  }
};

// A cell of a box, counted from the box's first.
struct cell {
  index_t at[axes];
};

// What one PE owns.
struct box {
  index_t extent[axes];
  index_t first[axes];         // global index of the first cell
  int neighbour[faces];        // PE or no_neighbour
  index_range updated[axes];   // cells that are not Dirichlet
  index_range interior[axes];  // updated cells on no face: they need no other PE

  constexpr bool is_updated(const cell& c) const {
    for (int a = 0; a < axes; ++a)
      if (c.at[a] < updated[a].begin || c.at[a] >= updated[a].end) return false;
    return true;
  }

  // Whether the face contains the cell.
  constexpr bool on_face(int axis, int side, const cell& c) const {
    return neighbour[2 * axis + side] != no_neighbour && c.at[axis] == (side == 0 ? 0 : extent[axis] - 1);
  }

  // A cell on several faces belongs to the first; only that one writes it to the PE's own array.
  template <int Axis>
  constexpr bool owned_by_face(int side, const cell& c) const {
    for (int a = 0; a < Axis; ++a)
      if (on_face(a, 0, c) || on_face(a, 1, c)) return false;
    return side == 0 || !on_face(Axis, 0, c);
  }

  constexpr index_t face_size(int axis) const { return extent[slow_axis(axis)] * extent[fast_axis(axis)]; }

  // Cells of a face are numbered along the last of its axes first, the same way on both sides of it.
  static constexpr int slow_axis(int axis) { return axis == 0 ? 1 : 0; }
  static constexpr int fast_axis(int axis) { return axis == 2 ? 1 : 2; }

  template <int Axis>
  constexpr cell face_cell(int side, index_t i) const {
    constexpr int slow = slow_axis(Axis);
    constexpr int fast = fast_axis(Axis);
    cell c{};
    c.at[Axis] = side == 0 ? 0 : extent[Axis] - 1;
    // Faces have fewer than 2^32 cells; a 32-bit division is much cheaper on a GPU.
    if (extent[slow] > 1)
      c.at[slow] = static_cast<index_t>(static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(extent[fast]));
    c.at[fast] = i - c.at[slow] * extent[fast];
    return c;
  }
  constexpr index_t face_index(int axis, const cell& c) const {
    return c.at[slow_axis(axis)] * extent[fast_axis(axis)] + c.at[fast_axis(axis)];
  }
};

constexpr int opposite(int face) { return face ^ 1; }

constexpr box box_of(const geometry& g, int pe) {
  box b{};
  int where[axes] = {pe / (g.parts[1] * g.parts[2]), pe / g.parts[2] % g.parts[1], pe % g.parts[2]};
  const int step[axes] = {g.parts[1] * g.parts[2], g.parts[2], 1};
  for (int a = 0; a < axes; ++a) {
    const index_range own = share(g.extent[a], g.parts[a], where[a]);
    b.extent[a] = own.size();
    b.first[a] = own.begin;
    const bool dirichlet = g.active[a] && !g.periodic[a];
    const bool first = where[a] == 0;
    const bool last = where[a] == g.parts[a] - 1;
    b.updated[a] = {dirichlet && first ? 1 : 0, own.size() - (dirichlet && last ? 1 : 0)};
    for (int side = 0; side < 2; ++side) {
      const bool wraps = side == 0 ? first : last;
      int to = pe + (side == 0 ? -step[a] : step[a]);
      if (wraps) to += (side == 0 ? g.parts[a] : -g.parts[a]) * step[a];
      b.neighbour[2 * a + side] = g.exchanges(a) && (!wraps || g.periodic[a]) ? to : no_neighbour;
    }
    b.interior[a] = b.updated[a];
    if (b.neighbour[2 * a] != no_neighbour) b.interior[a].begin = 1;
    if (b.neighbour[2 * a + 1] != no_neighbour) b.interior[a].end = own.size() - 1;
  }
  return b;
}

}  // namespace starling::stencil
