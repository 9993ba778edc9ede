// How many tiles a PE's box is divided into, and how they are kept.
#pragma once

#include <optional>

#include "starling/machine/machine.hpp"
#include "stencil/problem.hpp"
#include "stencil/tiles/tiles.hpp"

namespace starling::stencil {

// What a device has for it.
struct tile_limits {
  machine_kind kind = machine_kind::host;
  int blocks = 1;                 // at once
  std::size_t scratch_bytes = 0;  // of a block
};

tile_limits limits_of(const machine& m);

struct tile_choice {
  tiling grid;
  int threads = 256;
  std::size_t scratch_bytes = 0;
};

// Layers of cells that tiles exchange at most.
inline constexpr int most_depth = 16;

// What a step of the largest tile computes, in cells of an array in shared memory that take as long.
double cells_computed(const geometry& g, const tiling& t);

// Options that are not 0 are kept, but for the number of blocks: at most so many. Nothing where no tiles fit on chip,
// or spill; throws argument_error when the options are not possible.
template <class T>
std::optional<tile_choice> choose_tiles(const geometry& g, const tile_limits& limits, const run_options& options);

}  // namespace starling::stencil
