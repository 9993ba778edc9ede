// Whether several steps are made in one pass over memory, how many, and how the pass is dealt out.
#pragma once

#include <optional>

#include "stencil/march_layout.hpp"
#include "stencil/tile_choice.hpp"

namespace starling::stencil {

struct march_choice {
  march_layout layout;
  int blocks = 1;  // per PE
  int threads = 1;
};

// For `temporal` in two dimensions, where tiles do not fit on chip and boxes have layers for a depth from 2 on;
// otherwise nothing. Options that are not 0 are kept; throws argument_error and launch_error as choose_tiles does.
template <class T>
std::optional<march_choice> choose_march(const geometry& g, const tile_limits& limits, const run_options& options);

}  // namespace starling::stencil
