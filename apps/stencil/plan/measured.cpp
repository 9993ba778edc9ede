#include "stencil/plan/measured.hpp"

#include <limits>

#include "stencil/plan/cost_model.hpp"

namespace starling::stencil {

step_costs built_in_costs(machine_kind kind) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  step_costs c;
  if (kind == machine_kind::cuda) {
    // Measured on H200: bench/cpu_free_stencil/results/nvidia-h200-x1.json and -x2.json, and those of tiles.
    c.near_us = 1.0;
    c.far_us = 1.05;
    c.chip_cells_per_us = 10'000;
    c.meet_us = 2.5;
    c.spread_us = 3.7;
    c.cached_cells_per_us = 1'100'000;
    c.memory_cells_per_us = 500'000;
    c.temporal_cells_per_us = 2'000'000;
    c.graph_us = 3.6;
    c.host_us = 11;
  } else {
    c.near_us = c.far_us = c.graph_us = c.host_us = unknown;
    c.chip_cells_per_us = c.temporal_cells_per_us = 0;
    c.cached_cells_per_us = c.memory_cells_per_us = 2000;
    c.meet_us = c.spread_us = 60;
  }
  return c;
}

}  // namespace starling::stencil
