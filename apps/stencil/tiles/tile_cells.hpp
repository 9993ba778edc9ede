// The cells of a tile in the array in shared memory where its block keeps them.
#pragma once

#include "stencil/core/relax.hpp"
#include "stencil/tiles/tiles.hpp"

namespace starling::stencil {

// The cells of a tile at one moment.
template <class T, int Dimensions>
struct tile_cells {
  T* shared;
  const tiling& t;

  STARLING_HD T* at(int z, int y, int x) const { return shared + t.shared.at(z, y, x); }
  // The cell of a layer at (row, x) of it; in two dimensions a layer has one row.
  STARLING_HD T* in_layer(int layer, int row, int x) const {
    if constexpr (Dimensions == 3) return at(layer, row, x);
    return at(0, layer, x);
  }
  // Of a cell and its neighbours.
  STARLING_HD surroundings<T> around(const T* p) const {
    const int row = t.shared.stride[1];
    surroundings<T> s{*p, 0, 0, p[-row], p[row], p[-1], p[1]};
    if constexpr (Dimensions == 3) {
      s.below = p[-t.shared.stride[0]];
      s.above = p[t.shared.stride[0]];
    }
    return s;
  }
};

}  // namespace starling::stencil
