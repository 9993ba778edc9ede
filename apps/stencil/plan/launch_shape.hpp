// How many blocks and threads a step gets, and how faces are cut into chunks (CPU-free execution, 4.1.2).
#pragma once

#include "starling/machine/machine.hpp"
#include "stencil/plan/measured.hpp"
#include "stencil/problem.hpp"
#include "stencil/step/interior_partition.hpp"

namespace starling::stencil {

struct launch_shape {
  int blocks = 1;                    // per PE
  int threads = 256;                 // per block
  int boundary_blocks = 0;           // of these, for the boundary; 0: every block does both
  int chunks = 1;                    // per face
  interior_partition interior = {};  // among the blocks that do the interior

  constexpr int blocks_of_boundary() const { return boundary_blocks > 0 ? boundary_blocks : blocks; }
};

// Chunks of a face at most, so many signals are set aside for each.
inline constexpr int most_chunks = 1024;

// Bytes up to which a face of a PE travels as packets.
constexpr index_t most_packet_bytes(const run_options& options, machine_kind kind) {
  return options.packet_bytes >= 0 ? options.packet_bytes : measured::bytes_as_packets(kind);
}

// Options that name a number are kept; throws argument_error when they are not possible, launch_error when the blocks
// do not fit. `fits` tells how many blocks of so many threads a PE holds, which take tiles from a queue or
// not. `most_chosen`: blocks that are chosen, at most; 0: as many as fit.
template <class T>
launch_shape choose_launch(const geometry& g, machine_kind kind, const run_options& options,
                           const std::function<int(int threads, bool dynamic)>& fits, int most_chosen = 0);

}  // namespace starling::stencil
