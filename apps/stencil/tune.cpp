#include "stencil/tune.hpp"

#include <algorithm>
#include <cmath>

#include "starling/base/error.hpp"
#include "stencil/march_kernels.hpp"
#include "stencil/solver.hpp"

namespace starling::stencil {
namespace {

// Time of a step: the shortest of a few runs.
class stopwatch {
 public:
  stopwatch(const machine& m, double seconds, const std::function<void()>& look)
      : machine_(m), seconds_(seconds), look_(look) {}

  // Of a square domain with so many cells a side on each PE. Its edges are joined, so that one PE exchanges too.
  double us(index_t side, variant how, std::size_t on_chip_bytes = 0) const {
    problem<float> p;
    p.shape = {side * machine_.size(), side};
    p.coefficients = jacobi_coefficients<float>(2);
    p.edges = {edge::periodic, edge::periodic};
    solver<float> s(machine_, p);
    const std::vector<float> u(static_cast<std::size_t>(side * side * machine_.size()), 1.0f);
    s.load(u.data());
    run_options o{.how = how, .steps = 8};
    o.on_chip_bytes = on_chip_bytes;
    double best = run(s, o);
    constexpr index_t most_steps = 100'000;
    const double each = std::min(seconds_ / 4, longest_run);
    o.steps = std::clamp<index_t>(static_cast<index_t>(each / std::max(best, 1e-9)), 4, most_steps);
    const int runs = static_cast<int>(std::ceil(seconds_ / each));
    for (int i = 0; i < runs; ++i) best = std::min(best, run(s, o));
    return 1e6 * best;
  }

 private:
  static constexpr double longest_run = 0.25;  // seconds

  // Seconds of a step.
  double run(solver<float>& s, const run_options& o) const {
    if (look_) look_();
    return s.advance(o).seconds / static_cast<double>(o.steps);
  }

  machine machine_;
  double seconds_;
  const std::function<void()>& look_;
};

machine machine_of_one(const machine& m) {
  return m.kind() == machine_kind::host ? machine::host(1) : machine::cuda({m.device(0).id});
}

// The tiles of a domain of the stopwatch's, and what a step of one computes.
struct tiles_of {
  tiling grid;
  double on_chip;  // their part
  double cells;

  tiles_of(const machine& m, index_t side) {
    problem<float> p;
    p.shape = {side * m.size(), side};
    p.coefficients = jacobi_coefficients<float>(2);
    p.edges = {edge::periodic, edge::periodic};
    const geometry g = geometry_of(p, m.size());
    grid = choose_tiles<float>(g, limits_of(m), {.how = variant::resident}).grid;
    on_chip = part_on_chip(g, grid);
    cells = cells_computed(g, grid);
  }
};

// Never zero or less, whatever the noise.
double at_least(double value, double least) { return std::max(value, least); }

}  // namespace

std::string tuned_device(const machine& m) {
  return m.kind() == machine_kind::host ? "virtual device" : m.device(0).name;
}

step_costs tune(const machine& m, double seconds, const std::function<void()>& look) {
  expect<argument_error>(std::isfinite(seconds) && seconds > 0 && seconds <= 60, "stencil: tune for ", seconds,
                         " s each; must be more than 0 and at most 60");
  const bool gpu = m.kind() == machine_kind::cuda;
  const stopwatch time(m, seconds, look);
  // Domains so small that the work in them does not show, and large ones.
  const index_t tiny = 32;
  const index_t on_chip = gpu ? 1024 : 192;
  const index_t in_memory = gpu ? 8192 : 768;
  step_costs c;
  c.far_us = at_least(time.us(tiny, variant::resident), 1e-3);
  c.near_us = m.size() == 1 ? c.far_us : stopwatch(machine_of_one(m), seconds, look).us(tiny, variant::resident);
  c.meet_us = time.us(tiny, variant::cpu_free);
  c.graph_us = time.us(tiny, variant::graph);
  c.host_us = time.us(tiny, variant::p2p);
  const tiles_of kept(m, on_chip);
  const double least = 0.05 * c.far_us;
  c.chip_cells_per_us = kept.cells / at_least(time.us(on_chip, variant::resident) - c.far_us, least);
  c.memory_cells_per_us =
      static_cast<double>(in_memory * in_memory) / at_least(time.us(in_memory, variant::cpu_free) - c.meet_us, least);
  const tiles_of streamed(m, in_memory);
  c.streamed_cells_per_us = c.memory_cells_per_us;
  if (streamed.grid.streams) {
    const double on_chip_us = streamed.on_chip * streamed.cells / c.chip_cells_per_us;
    c.streamed_cells_per_us = (1 - streamed.on_chip) * static_cast<double>(in_memory * in_memory) /
                              at_least(time.us(in_memory, variant::resident) - c.far_us - on_chip_us, least);
  }
  // With next to nothing on chip cells are in memory.
  c.marched_cells_per_us = static_cast<double>(in_memory * in_memory) /
                           at_least(time.us(in_memory, variant::temporal, 16) - c.meet_us / march_most_depth, least);
  c.source = "measured now";
  return c;
}

}  // namespace starling::stencil
