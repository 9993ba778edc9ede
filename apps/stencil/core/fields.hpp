// The symmetric memory of a stencil solver as kernels see it.
//
// Values carry a time level: the number of steps that made them. Time level g of the cells is in u[g % 2]; time level g
// of what a neighbour's face holds is in slot g % 3 of the receive buffer of that face.
// Why three slots: a block that sends a chunk of time level g has the neighbour's chunk of g - 1, sent after all blocks
// of the neighbour had finished step g - 2, the last that reads time level g - 3. Blocks of the neighbour may still
// read g - 2.
#pragma once

#include "starling/device/program_state.hpp"
#include "stencil/core/geometry.hpp"

namespace starling::stencil {

inline constexpr int receive_slots = 3;

// Cells of a face that are stored at once where no packets travel: 16 bytes.
template <class T>
inline constexpr index_t signalled_cells = static_cast<index_t>(16 / sizeof(T));

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
  sym<box> own;  // what each PE owns
  sym<T> u[2];
  sym<T> receive_buffer;                 // slot after slot, in each face after face
  sym<packet> packet_buffer;             // the same as packets, for small faces
  sym<T> send_buffer;                    // face after face: faces on their way, for copies that the host issues
  index_t face_start[faces + 1] = {};    // where a face begins in the send buffer and in a slot of the receive buffer
  index_t packet_start[faces + 1] = {};  // where a face begins in a slot of the packet buffer, in packets
  sym<signal> arrived;                   // [faces][chunks] time level that a chunk of a face's receive buffer holds
  sym<T> changes;                        // [blocks] largest change seen by a block, for the host to combine
  // The counter of the tile queue, drawn from in all steps after this time level.
  sym<std::uint32_t> tile_counter;
  index_t counter_reset_at = 0;

  constexpr index_t packet_slot(index_t message) const { return message % receive_slots * packet_start[faces]; }
  constexpr index_t receive_slot(index_t time_level) const { return time_level % receive_slots * face_start[faces]; }
};

// The layout of receive buffer, packet buffer and send buffer for a geometry. A face begins at a multiple of 16 bytes,
// and has room up to one.
template <class T>
constexpr void place_faces(fields<T>& f) {
  for (int face = 0; face < faces; ++face) {
    const int axis = face / 2;
    const index_t cells = f.shape.exchanges(axis) ? f.shape.face_cells(axis) : 0;
    f.face_start[face + 1] = f.face_start[face] + round_up(cells, signalled_cells<T>);
    f.packet_start[face + 1] = f.packet_start[face] + packets_for<T>(cells);
  }
}

}  // namespace starling::stencil
