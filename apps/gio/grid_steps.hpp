// The kernels of a grid. Blocks 0 to 3 do an edge each, the others share the inside.
#pragma once

#include "gio/grid_part.hpp"

namespace starling::gio {

// All steps, with the edges put by blocks; how many there were and the last residual, in outcome[0] of PE 0.
struct grid_outcome {
  double residual;
  int steps;
};
void run_grid_program(machine& m, const grid_memory& memory, int blocks, int steps, double tolerance,
                      sym<grid_outcome> outcome, const launch_options& options);

// One step, or a part of it, of one PE, as an operation of a stream. The residual of each block is in memory.residual.
enum class grid_work { all, edges, inside, nothing };
void launch_grid_step(stream& s, const grid_memory& memory, grid_work what, int step, int blocks,
                      const launch_options& options);

// How many blocks can do the inside in a program.
int most_inside_blocks(const machine& m, const launch_options& options);

}  // namespace starling::gio
