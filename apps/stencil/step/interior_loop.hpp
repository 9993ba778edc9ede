// A step of some cells of the interior by one thread, as a loop over rows that a compiler vectorises: what virtual
// devices do.
#pragma once

#include "stencil/core/relax.hpp"
#include "stencil/step/interior_partition.hpp"

namespace starling::stencil {

// The cells of a PE before a step and after it, in memory.
template <class T>
struct step_cells {
  const T* in;
  T* out;
  index_t layer;
  index_t pitch;
};

template <bool Check, int Dimensions, class Group, class T>
STARLING_HD void loop_interior(const Group& g, const interior_tile& tile, const coefficients<T>& weights,
                               const step_cells<T>& cells, T& change) {
  // Of its own: stores to cells could change the others, which would be loaded again each time, and seen by check mode.
  const coefficients<T> weight = weights;
  const step_cells<T> u = cells;
  for (index_t z = tile.zs.begin; z < tile.zs.end; ++z)
    g.for_each(tile.ys, tile.xs, [&](index_t y, index_t x) {
      const index_t at = z * u.layer + y * u.pitch + x;
      const T* in = u.in + at;
      surroundings<T> s{*in, 0, 0, in[-u.pitch], in[u.pitch], in[-1], in[1]};
      if constexpr (Dimensions == 3) {
        s.below = in[-u.layer];
        s.above = in[u.layer];
      }
      const T value = relaxed<Dimensions>(weight, s);
      if constexpr (Check) note_difference(s.centre, value, change);
      u.out[at] = value;
    });
}

}  // namespace starling::stencil
