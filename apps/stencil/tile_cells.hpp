// The cells of a tile where its block keeps them.
#pragma once

#include "stencil/relax.hpp"
#include "stencil/tiles.hpp"

namespace starling::stencil {

// The cells of a tile at one moment: on chip, and the last layers in memory.
template <class T, int Dimensions, bool Streams>
struct tile_cells {
  T* chip;
  T* memory;
  const tiling& t;

  STARLING_HD bool on_chip(int layer) const { return !Streams || layer < t.layers_on_chip; }
  STARLING_HD T* at(int z, int y, int x) const {
    return on_chip(Dimensions == 3 ? z : y) ? chip + t.chip.at(z, y, x) : memory + t.memory.at(z, y, x);
  }
  // The cell of a layer at (row, x) of it; in two dimensions a layer has one row.
  STARLING_HD T* in_layer(int layer, int row, int x) const {
    if constexpr (Dimensions == 3) return at(layer, row, x);
    return at(0, layer, x);
  }
  // Of a cell on chip all of whose neighbours are there.
  STARLING_HD surroundings<T> around(const T* p) const {
    const int row = t.chip.stride[1];
    surroundings<T> s{*p, 0, 0, p[-row], p[row], p[-1], p[1]};
    if constexpr (Dimensions == 3) {
      s.below = p[-t.chip.stride[0]];
      s.above = p[t.chip.stride[0]];
    }
    return s;
  }
  STARLING_HD surroundings<T> around(int z, int y, int x) const {
    constexpr bool solid = Dimensions == 3;
    const T* p = at(z, y, x);
    const int row = on_chip(solid ? z : y) ? t.chip.stride[1] : t.memory.stride[1];
    surroundings<T> s{*p, 0, 0, 0, 0, p[-1], p[1]};
    if constexpr (solid) {
      s.below = *at(z - 1, y, x);
      s.above = *at(z + 1, y, x);
      s.north = p[-row];
      s.south = p[row];
    } else {
      s.north = *at(z, y - 1, x);
      s.south = *at(z, y + 1, x);
    }
    return s;
  }
};

}  // namespace starling::stencil
