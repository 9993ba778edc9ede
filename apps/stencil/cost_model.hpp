// What a step of each variant is expected to cost, and which one is therefore taken when nobody names one.
#pragma once

#include <string>

#include "stencil/march_choice.hpp"

namespace starling::stencil {

// What the model is made of: measured once for a kind of device, by tune() or by those who wrote the built-in ones.
struct step_costs {
  double near_us = 0;                // resident: a step without work, within one PE
  double far_us = 0;                 // the same between PEs
  double chip_cells_per_us = 0;      // resident: that a block computes of what it keeps on chip
  double memory_cells_per_us = 0;    // that a PE computes of what is in its memory
  double streamed_cells_per_us = 0;  // resident: the same, of what its blocks do not keep on chip
  double marched_cells_per_us = 0;   // temporal, in memory: that a PE computes, a cell counted once for each step
  double meet_us = 0;                // cpu_free: a step without work
  double graph_us = 0;               // graph: the same
  double host_us = 0;                // p2p: the same
  std::string source = "built in";
};

step_costs built_in_costs(machine_kind kind);

struct variant_choice {
  variant how = variant::cpu_free;
  int devices = 1;
  int depth = 0;  // of temporal
  double us = 0;  // expected for a step
  std::string why;
};

// The cheapest variant for a domain on its PEs.
template <class T>
variant_choice choose_variant(const geometry& g, const tile_limits& limits, const step_costs& costs,
                              const run_options& options);

// The same, and how many of so many devices: a domain that names its parts keeps them.
template <class T>
variant_choice choose_devices(const problem<T>& p, int most, const tile_limits& limits, const step_costs& costs,
                              const run_options& options);

}  // namespace starling::stencil
