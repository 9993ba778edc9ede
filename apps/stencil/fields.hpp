// The symmetric memory of a stencil solver as kernels see it.
//
// Values carry a generation: the number of steps that made them. Generation g of the cells is in u[g % 2]; generation g
// of what a neighbour's face holds is in slot g % 3 of the inbox of that face.
// Why three slots: a PE that sends generation g has the neighbour's g - 1, sent after all blocks of the neighbour had
// finished step g - 2, the last that reads generation g - 3. Blocks of the neighbour may still read g - 2.
#pragma once

#include "starling/device/program_state.hpp"
#include "stencil/geometry.hpp"

namespace starling::stencil {

inline constexpr int inbox_slots = 3;

template <class T>
struct coefficients {
  T centre;
  T low[axes];
  T high[axes];
};

template <class T>
struct fields {
  geometry shape;
  coefficients<T> weight;
  sym<T> u[2];
  sym<T> inbox;            // face after face, slot after slot
  sym<T> outbox;           // face after face: faces on their way, for copies that the host issues
  sym<signal> arrived;     // [faces][chunks] generation that a chunk of a face's inbox holds
  sym<T> changes;          // [blocks] largest change seen by a block, for the host to combine

  constexpr index_t inbox_offset(int face, index_t generation) const {
    return outbox_offset(face) * inbox_slots + generation % inbox_slots * shape.face_cells(face / 2);
  }
  constexpr index_t outbox_offset(int face) const {
    index_t cells = 0;
    for (int f = 0; f < face; ++f) cells += shape.exchanges(f / 2) ? shape.face_cells(f / 2) : 0;
    return cells;
  }
  constexpr index_t offset(const cell& c) const {
    return c.at[0] * shape.stride[0] + c.at[1] * shape.stride[1] + c.at[2];
  }
};

}  // namespace starling::stencil
