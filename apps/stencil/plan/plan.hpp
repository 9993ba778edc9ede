// make_plan: all that is decided before cells advance, in one place: the variant, how it keeps the cells, and which
// blocks and threads do its steps. The solver hands the plan to the engine that runs it. `choose_devices` (cost_model)
// comes before: it says how many devices a machine should have for a domain.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "stencil/plan/cost_model.hpp"
#include "stencil/plan/launch_shape.hpp"

namespace starling::stencil {

// What a plan is made for.
struct plan_device {
  tile_limits limits;
  int processes = 1;
  // How many blocks of so many threads a PE holds of the kernels of a variant whose cells are in memory; `dynamic`:
  // those that take tiles from a queue.
  std::function<int(variant how, int threads, bool dynamic)> blocks_that_fit;
  // Asked for where the variant is to be chosen. May throw argument_error.
  std::function<step_costs()> costs;
  // Blocks of a PE that are chosen for cells in memory, at most; 0: as many as fit. Where PEs share multiprocessors, a
  // second block of a PE on one takes turns with those of the others.
  int most_blocks = 0;
};

struct run_plan {
  variant how = variant::cpu_free;  // the one that runs; never `automatic`
  int depth = 0;                    // as in run_options
  // What the engine needs to know: that of single steps over cells in memory, of tiles, or of passes of several steps.
  std::variant<launch_shape, tile_choice, temporal_choice> engine;
  double us = 0;    // expected of a step, where the variant was chosen
  std::string why;  // it was chosen; or why another one than that asked for runs
};

// Options that name a number are kept. Throws argument_error when they are not possible, launch_error when so many
// blocks do not fit, and unsupported_error for steps of the host in several processes.
template <class T>
run_plan make_plan(const geometry& g, const plan_device& device, const run_options& options);

}  // namespace starling::stencil
