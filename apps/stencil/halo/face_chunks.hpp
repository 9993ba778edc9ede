// How the faces of a PE are cut into chunks, for the programs whose blocks take chunks of faces.
#pragma once

#include <algorithm>

#include "stencil/plan/launch_shape.hpp"
#include "stencil/step/stencil_kernels.hpp"

namespace starling::stencil {

// Scratch memory of a block: the box, and the list of its chunks.
constexpr std::size_t scratch_of(int chunks) {
  return scratch_bytes + static_cast<std::size_t>(chunks) * scratch_bytes_per_chunk;
}

// Chunks that one block has to do, when all faces are there.
constexpr int chunks_per_block(const geometry& g, const launch_shape& launch) {
  return std::max(1, static_cast<int>(ceil_div(g.exchanged_faces() * launch.chunks, launch.blocks_of_boundary())));
}

// Bytes of the largest face.
template <class T>
index_t face_bytes(const geometry& g) {
  index_t cells = 0;
  for (int axis = 0; axis < axes; ++axis)
    if (g.exchanges(axis)) cells = std::max(cells, g.face_cells(axis));
  return cells * static_cast<index_t>(sizeof(T));
}

// Sets what the arguments say of chunks; `packets` has been set. A chunk begins where strips of either kind do.
template <class T>
void cut_faces(cpu_free_arguments<T>& a, const launch_shape& launch) {
  const geometry& g = a.f.shape;
  a.chunks = launch.chunks;
  a.chunks_per_block = chunks_per_block(g, launch);
  for (int axis = 0; axis < axes; ++axis) {
    a.chunk_cells[axis] = round_up(ceil_div(g.face_cells(axis), launch.chunks), signalled_cells<T>);
    // Axes that both exchange have edges in common; one layer per PE is both sides' face.
    const bool one_layer = g.exchanges(axis) && g.extent[axis] / g.parts[axis] == 1;
    a.faces_meet = a.faces_meet || one_layer || g.exchanged_faces() > 2;
  }
  const index_t strip = a.packets ? elements_per_packet<T> : signalled_cells<T>;
  a.in_rows = !a.faces_meet && !g.exchanges(2) && g.extent[2] % strip == 0;
}

}  // namespace starling::stencil
