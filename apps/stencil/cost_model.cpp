#include "stencil/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "starling/base/error.hpp"

namespace starling::stencil {
namespace {

std::string rounded(double us) {
  char text[32];
  std::snprintf(text, sizeof text, us < 100 ? "%.2f" : "%.0f", us);
  return text;
}

double cells_of_pe(const geometry& g) {
  return static_cast<double>(g.largest(0)) * static_cast<double>(g.largest(1)) * static_cast<double>(g.largest(2));
}

// A step of tiles: the exchange, and the work of the largest tile.
double tiled_us(const geometry& g, machine_kind kind, const tile_choice& c, const step_costs& costs) {
  const tiling& t = c.grid;
  const double computed = cells_computed(g, t);
  double own = 1;
  double edges = 0;
  for (int a = 0; a < axes; ++a) own *= static_cast<double>(t.largest[a]);
  for (int a = 0; a < axes; ++a)
    if (tiles_exchange(g, t, a)) edges += 2 * own / static_cast<double>(t.largest[a]);
  const double flight = edges == 0 ? 0 : g.exchanged_faces() > 0 && g.n_pes() > 1 ? costs.far_us : costs.near_us;
  const double on_chip = part_on_chip(g, t);
  // Edges of many cells, which travel as vectors: as measured when they were packets listed in memory.
  const double per_edge_cell = cells_per_edge_cell(kind) * (t.faces && kind == machine_kind::cuda ? 3 : 1);
  const double at_chip_rate = t.tall.used() ? cells_of_tall_step(t.tall, t.largest[1]) : on_chip * computed;
  const double streamed = t.tall.used() ? 0 : (1 - on_chip) * computed * t.blocks();
  const double work =
      (at_chip_rate + per_edge_cell * edges) / costs.chip_cells_per_us + streamed / costs.streamed_cells_per_us;
  if (t.depth == 1 || kind == machine_kind::host) return flight / t.depth + work;
  // Each step has its barriers.
  const double exchange = flight + cells_of_packets(static_cast<double>(t.mail_per_block())) / costs.chip_cells_per_us;
  return exchange / t.depth + 0.1 * costs.near_us + work;
}

// A step of passes over memory, after each of which all blocks meet. A look at the change ends a pass, which takes
// about as long as one of all steps.
double marched_us(const geometry& g, const march_choice& c, const step_costs& costs, index_t check_every) {
  const double depth = c.layout.depth;
  const auto until_look = static_cast<double>(check_every);
  const double steps = check_every > 0 ? until_look / std::ceil(until_look / depth) : depth;
  return costs.meet_us / steps + depth / steps * cells_of_pe(g) / costs.marched_cells_per_us;
}

template <class T>
void try_tiles(variant how, const geometry& g, const tile_limits& limits, const step_costs& costs, run_options options,
               std::vector<variant_choice>& all) {
  options.how = how;
  if (how == variant::resident) options.depth = 0;
  try {
    const cell_plan plan = plan_cells<T>(g, limits, options);
    if (const auto* march = std::get_if<march_choice>(&plan)) {
      all.push_back({how, g.n_pes(), march->layout.depth, marched_us(g, *march, costs, options.check_every), {}});
      return;
    }
    const auto& c = std::get<tile_choice>(plan);
    if (how == variant::temporal && c.grid.depth == 1) return;  // that is resident
    all.push_back(
        {how, g.n_pes(), how == variant::temporal ? c.grid.depth : 0, tiled_us(g, limits.kind, c, costs), {}});
  } catch (const launch_error&) {
    // Its tiles do not fit: one of the others is taken.
  }
}

}  // namespace

step_costs built_in_costs(machine_kind kind) {
  step_costs c;
  if (kind == machine_kind::cuda) {
    // Measured on H200, float32: bench/cpu_free_stencil/results/nvidia-h200-x2.json. Streamed cells: 100'000 and more
    // in 3D; in 2D tiles are tall. Cells in passes: 1.8 million and more, so that their cost here is an upper bound.
    c.near_us = 0.8;
    c.far_us = 1.1;
    c.chip_cells_per_us = 9000;
    c.memory_cells_per_us = 400'000;
    c.streamed_cells_per_us = 300'000;
    c.marched_cells_per_us = 1'400'000;
    c.meet_us = 2.4;
    c.graph_us = 3.9;
    c.host_us = 8.0;
  } else {
    c.near_us = 60;
    c.far_us = 60;
    c.chip_cells_per_us = 1000;
    c.memory_cells_per_us = 1000;
    c.streamed_cells_per_us = 1000;
    c.marched_cells_per_us = 1000;
    c.meet_us = 50;
    c.graph_us = 60;
    c.host_us = 60;
  }
  return c;
}

template <class T>
variant_choice choose_variant(const geometry& g, const tile_limits& limits, const step_costs& costs,
                              const run_options& options) {
  std::vector<variant_choice> all;
  const double in_memory = cells_of_pe(g) / costs.memory_cells_per_us;
  try_tiles<T>(variant::resident, g, limits, costs, options, all);
  try_tiles<T>(variant::temporal, g, limits, costs, options, all);
  all.push_back({variant::cpu_free, g.n_pes(), 0, costs.meet_us + in_memory, {}});
  all.push_back({variant::graph, g.n_pes(), 0, costs.graph_us + in_memory, {}});
  all.push_back({variant::p2p, g.n_pes(), 0, costs.host_us + in_memory, {}});
  variant_choice best = *std::min_element(all.begin(), all.end(),
                                          [](const variant_choice& a, const variant_choice& b) { return a.us < b.us; });
  best.why = message(name(best.how), " on ", best.devices, best.devices == 1 ? " device" : " devices");
  if (best.depth > 0) best.why += message(", an exchange every ", best.depth, " steps");
  best.why += ": expected us per step";
  const char* before = " ";
  for (const variant_choice& c : all) {
    best.why += message(before, name(c.how), " ", rounded(c.us));
    before = ", ";
  }
  best.why += message(" (costs: ", costs.source, ")");
  return best;
}

template <class T>
variant_choice choose_devices(const problem<T>& p, int most, const tile_limits& limits, const step_costs& costs,
                              const run_options& options) {
  expect<argument_error>(most >= 1, "stencil: ", most, " devices to choose from; must be at least 1");
  if (!p.parts.empty()) return choose_variant<T>(geometry_of(p, most), limits, costs, options);
  variant_choice best;
  for (int n = 1; n <= most; ++n) {
    if (n > 1 && n > p.shape[0]) break;
    variant_choice c = choose_variant<T>(geometry_of(p, n), limits, costs, options);
    // Another device has to be worth it.
    if (n == 1 || c.us < 0.95 * best.us) best = std::move(c);
  }
  return best;
}

template variant_choice choose_variant<float>(const geometry&, const tile_limits&, const step_costs&,
                                              const run_options&);
template variant_choice choose_variant<double>(const geometry&, const tile_limits&, const step_costs&,
                                               const run_options&);
template variant_choice choose_devices(const problem<float>&, int, const tile_limits&, const step_costs&,
                                       const run_options&);
template variant_choice choose_devices(const problem<double>&, int, const tile_limits&, const step_costs&,
                                       const run_options&);

}  // namespace starling::stencil
