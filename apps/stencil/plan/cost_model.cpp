#include "stencil/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "starling/base/error.hpp"
#include "stencil/plan/measured.hpp"
#include "stencil/temporal/temporal_kernels.hpp"
#include "stencil/tiles/resident_kernels.hpp"

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

// In float32.
double cells_worth(double cells, std::size_t cell_bytes) {
  return cells * static_cast<double>(cell_bytes) / sizeof(float);
}

// A step of tiles: the exchange, and the work of the largest tile.
double tiled_us(const geometry& g, machine_kind kind, const tile_choice& c, std::size_t cell_bytes,
                const step_costs& costs) {
  const tiling& t = c.grid;
  const bool far = g.exchanged_faces() > 0 && g.n_pes() > 1;
  const double flight = t.packets_per_block() == 0 ? 0 : far ? costs.far_us : costs.near_us;
  const double work = tile_work(g, kind, c, cell_bytes) / costs.chip_cells_per_us;
  if (t.depth == 1 || kind == machine_kind::host) return flight / t.depth + work;
  // Each step has its barriers.
  const double exchange =
      flight + measured::packets_of_tile(static_cast<double>(t.packets_per_block())) / costs.chip_cells_per_us;
  return exchange / t.depth + measured::barriers_of_tile_step * costs.near_us + work;
}

// A step of cpu_free.
double plain_us(const geometry& g, machine_kind kind, std::size_t cell_bytes, const step_costs& costs) {
  using measured::bytes_in_cache;
  const double solid = kind == machine_kind::cuda && g.active[0] ? measured::cached_cell_in_three_dimensions : 1;
  const double cells = cells_of_pe(g);
  const double worth = cells_worth(cells, cell_bytes);
  const double busy = std::min(1.0, cells / static_cast<double>(cells_of_busy_pe));
  const double cached =
      costs.meet_us + busy * (costs.spread_us - costs.meet_us) + solid * worth / costs.cached_cells_per_us;
  const double from_memory = costs.meet_us + worth / costs.memory_cells_per_us;
  const double bytes = 2 * cells * static_cast<double>(cell_bytes);
  const double part = std::clamp((bytes - bytes_in_cache) / (measured::bytes_in_memory - bytes_in_cache), 0.0, 1.0);
  return (1 - part) * cached + part * from_memory;
}

// A step of passes over memory, after each of which all blocks meet. A convergence check ends a pass, which takes
// about as long as one of all steps.
double temporal_us(const geometry& g, const temporal_choice& c, std::size_t cell_bytes, const step_costs& costs,
                   index_t check_every) {
  const double depth = c.layout.depth;
  const auto until_check = static_cast<double>(check_every);
  const double steps = check_every > 0 ? until_check / std::ceil(until_check / depth) : depth;
  const double cells = cells_worth(cells_of_pe(g), cell_bytes);
  return costs.meet_us / steps + depth / steps * cells / costs.temporal_cells_per_us;
}

template <class T>
void try_tiles(variant how, const geometry& g, const tile_limits& limits, const step_costs& costs, run_options options,
               std::vector<variant_choice>& all) {
  if (options.threads > resident_most_threads) return;  // those of other variants may be larger
  options.how = how;
  if (how == variant::resident) options.depth = 0;
  try {
    const cell_plan plan = plan_cells<T>(g, limits, options);
    if (const auto* passes = std::get_if<temporal_choice>(&plan))
      all.push_back(
          {how, g.n_pes(), passes->layout.depth, temporal_us(g, *passes, sizeof(T), costs, options.check_every), {}});
    const auto* tiles = std::get_if<tile_choice>(&plan);
    if (tiles == nullptr || (how == variant::temporal && tiles->grid.depth == 1)) return;  // that is another variant
    all.push_back({how,
                   g.n_pes(),
                   how == variant::temporal ? tiles->grid.depth : 0,
                   tiled_us(g, limits.kind, *tiles, sizeof(T), costs),
                   {}});
  } catch (const launch_error&) {
    // So many blocks do not fit: one of the others is taken.
  } catch (const argument_error&) {
    if (options.threads <= temporal_most_threads) throw;  // otherwise it is for the passes alone
  }
}

// cpu_free is the first.
std::size_t cheapest(const std::vector<variant_choice>& all) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].us < (best == 0 ? measured::clearly_cheaper_variant : 1) * all[best].us) best = i;
  return best;
}

}  // namespace

step_costs costs_of_share(step_costs whole, int pes_on_gpu) {
  if (pes_on_gpu == 1) return whole;
  const double part = 1.0 / pes_on_gpu;
  whole.far_us = whole.near_us;
  whole.cached_cells_per_us *= part;
  whole.memory_cells_per_us *= part;
  whole.temporal_cells_per_us *= part;
  whole.source += message(", for 1 of ", pes_on_gpu, " PEs of a GPU");
  return whole;
}

double tile_work(const geometry& g, machine_kind kind, const tile_choice& c, std::size_t cell_bytes) {
  const tiling& t = c.grid;
  double own = 1;
  double edges = 0;
  for (int a = 0; a < axes; ++a) own *= static_cast<double>(t.largest[a]);
  for (int a = 0; a < axes; ++a)
    if (tiles_exchange(g, t, a)) edges += 2 * own / static_cast<double>(t.largest[a]);
  const double packed = measured::cells_per_edge_cell(kind) * edges;
  if (t.spilling.used()) return cells_of_spilling_step(t.spilling, t.largest[1]) + packed;
  if (t.registers.used()) return cells_computed(g, t) + packed;
  const double in_array = kind == machine_kind::host ? 1
                          : t.single_buffered        ? measured::in_place_cell
                                                     : measured::double_buffered_cell;
  return in_array * cells_worth(cells_computed(g, t) + packed, cell_bytes);
}

template <class T>
std::vector<variant_choice> expected_steps(const geometry& g, const tile_limits& limits, const step_costs& costs,
                                           const run_options& options) {
  const double plain = plain_us(g, limits.kind, sizeof(T), costs);
  std::vector<variant_choice> all{{variant::cpu_free, g.n_pes(), 0, plain, {}}};
  try_tiles<T>(variant::resident, g, limits, costs, options, all);
  try_tiles<T>(variant::temporal, g, limits, costs, options, all);
  all.push_back({variant::graph, g.n_pes(), 0, costs.graph_us - costs.meet_us + plain, {}});
  all.push_back({variant::p2p, g.n_pes(), 0, costs.host_us - costs.meet_us + plain, {}});
  std::erase_if(all, [](const variant_choice& c) { return !std::isfinite(c.us); });
  return all;
}

template <class T>
variant_choice choose_variant(const geometry& g, const tile_limits& limits, const step_costs& costs,
                              const run_options& options) {
  const std::vector<variant_choice> all = expected_steps<T>(g, limits, costs, options);
  variant_choice best = all[cheapest(all)];
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
  const int possible = static_cast<int>(std::clamp<index_t>(p.shape.empty() ? 1 : p.shape[0], 1, most));
  const int fewest = limits.kind == machine_kind::host ? possible : 1;
  variant_choice best;
  for (int n = fewest; n <= possible; ++n) {
    variant_choice c = choose_variant<T>(geometry_of(p, n), limits, costs, options);
    // Another device has to be worth it.
    if (n == fewest || c.us < measured::clearly_cheaper_devices * best.us) best = std::move(c);
  }
  return best;
}

template std::vector<variant_choice> expected_steps<float>(const geometry&, const tile_limits&, const step_costs&,
                                                           const run_options&);
template std::vector<variant_choice> expected_steps<double>(const geometry&, const tile_limits&, const step_costs&,
                                                            const run_options&);
template variant_choice choose_variant<float>(const geometry&, const tile_limits&, const step_costs&,
                                              const run_options&);
template variant_choice choose_variant<double>(const geometry&, const tile_limits&, const step_costs&,
                                               const run_options&);
template variant_choice choose_devices(const problem<float>&, int, const tile_limits&, const step_costs&,
                                       const run_options&);
template variant_choice choose_devices(const problem<double>&, int, const tile_limits&, const step_costs&,
                                       const run_options&);

}  // namespace starling::stencil
