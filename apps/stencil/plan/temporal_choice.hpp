// Whether several steps are made in one pass over memory, how many, and how the pass is partitioned.
#pragma once

#include <string>
#include <variant>

#include "stencil/plan/tile_choice.hpp"
#include "stencil/temporal/strip_layout.hpp"

namespace starling::stencil {

struct temporal_choice {
  strip_layout layout;
  int blocks = 1;  // per PE
  int threads = 1;
};

// Steps go as those of cpu_free.
struct plain_steps {
  std::string why;
};

// How `resident` and `temporal` keep cells: in tiles, in memory for passes of several steps, or as cpu_free does.
using cell_plan = std::variant<tile_choice, temporal_choice, plain_steps>;

// Passes for `temporal` in two dimensions, where tiles do not fit on chip and boxes have layers for a depth from 2 on;
// otherwise tiles, and plain steps where these do not fit. Options that are not 0 are kept as long as it is not plain
// steps; throws argument_error and launch_error as choose_tiles does, and argument_error for more threads than a block
// of a pass has.
template <class T>
cell_plan plan_cells(const geometry& g, const tile_limits& limits, const run_options& options);

}  // namespace starling::stencil
