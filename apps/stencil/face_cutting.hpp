// How the faces of a PE are cut into chunks, for the programs whose blocks take chunks of faces.
#pragma once

#include <algorithm>

#include "stencil/launch_shape.hpp"
#include "stencil/stencil_kernels.hpp"

namespace starling::stencil {

// Scratch memory of a block: the box, and the list of its chunks.
constexpr std::size_t scratch_of(int chunks) {
  return scratch_bytes + static_cast<std::size_t>(chunks) * scratch_bytes_per_chunk;
}

// Sets what the arguments say of chunks; returns the bytes of the largest one.
template <class T>
index_t cut_faces(cpu_free_arguments<T>& a, const launch_shape& launch) {
  const geometry& g = a.f.shape;
  a.chunks = launch.chunks;
  index_t largest_chunk = 0;
  for (int axis = 0; axis < axes; ++axis) {
    a.chunk_cells[axis] = round_up(ceil_div(g.face_cells(axis), launch.chunks), elements_per_packet<T>);
    if (g.exchanges(axis))
      largest_chunk = std::max(largest_chunk, a.chunk_cells[axis] * static_cast<index_t>(sizeof(T)));
    // Axes that both exchange have edges in common; one layer per PE is both sides' face.
    const bool one_layer = g.exchanges(axis) && g.extent[axis] / g.parts[axis] == 1;
    a.faces_meet = a.faces_meet || one_layer || g.exchanged_faces() > 2;
  }
  // Chunks that one block has to do, when all faces are there.
  const int doing_faces = std::max(launch.face_blocks > 0 ? launch.face_blocks : launch.blocks, 1);
  a.chunks_per_block = std::max(1, static_cast<int>(ceil_div(g.exchanged_faces() * launch.chunks, doing_faces)));
  return largest_chunk;
}

}  // namespace starling::stencil
