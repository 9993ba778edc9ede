// What a step of each variant is expected to cost, and which one is therefore taken when nobody names one.
#pragma once

#include <string>
#include <vector>

#include "stencil/plan/temporal_choice.hpp"

namespace starling::stencil {

// What the model is made of: measured once for a kind of device, by tune() or by those who wrote the built-in ones.
// Cells are of float32, of which others are worth as many as they have bytes. Of a cost that nobody knows the time is
// infinite and the rate 0.
struct step_costs {
  double near_us = 0;                // resident: a step without work, within one PE
  double far_us = 0;                 // the same between PEs
  double chip_cells_per_us = 0;      // resident: that a block computes of what it keeps on chip
  double meet_us = 0;                // cpu_free: a step without work
  double spread_us = 0;              // cpu_free: besides its cells, of a step that keeps the whole PE busy
  double cached_cells_per_us = 0;    // cpu_free: that a PE computes where its cache has all
  double memory_cells_per_us = 0;    // cpu_free: the same where it does not
  double temporal_cells_per_us = 0;  // temporal, in memory: that a PE computes, a cell counted once for each step
  double graph_us = 0;               // graph: a step without work
  double host_us = 0;                // p2p: the same
  std::string source = "built in";
};

// Of virtual devices those of cpu_free alone: what the others take depends on the processors that run them.
step_costs built_in_costs(machine_kind kind);

// What is to be expected where so many PEs share the device that these costs are of: a neighbour is as near as another
// block, and a PE computes at its part of the rate. What a block does on chip takes as long as before.
step_costs costs_of_share(step_costs whole, int pes_on_gpu);

// How far what is expected of a step is from what it takes, as a part of that: on H200, of all domains in
// bench/cpu_free_stencil/results (tests/apps/stencil_recorded_costs.cpp).
inline constexpr double cost_model_error = 0.3;

// The cells of cpu_free with which a PE is taken to be busy, and of the domain that tune() measures it with.
inline constexpr index_t cells_of_busy_pe = 1 << 20;

// What a step of the largest tile computes, packs and unpacks, in cells of float32 in registers.
double tile_work(const geometry& g, machine_kind kind, const tile_choice& c, std::size_t cell_bytes);

struct variant_choice {
  variant how = variant::cpu_free;
  int devices = 1;
  int depth = 0;  // of temporal
  double us = 0;  // expected for a step
  std::string why;
};

// What is expected of each variant whose costs are known, cpu_free first; without reasons. Those that would run another
// one's steps are left out.
template <class T>
std::vector<variant_choice> expected_steps(const geometry& g, const tile_limits& limits, const step_costs& costs,
                                           const run_options& options);

// The cheapest variant for a domain on its PEs; cpu_free unless another one is clearly cheaper.
template <class T>
variant_choice choose_variant(const geometry& g, const tile_limits& limits, const step_costs& costs,
                              const run_options& options);

// The same, and how many of so many devices: a domain that names its parts keeps them, and virtual devices all take
// part.
template <class T>
variant_choice choose_devices(const problem<T>& p, int most, const tile_limits& limits, const step_costs& costs,
                              const run_options& options);

}  // namespace starling::stencil
