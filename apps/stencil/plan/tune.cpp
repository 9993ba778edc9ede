#include "stencil/plan/tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "starling/base/error.hpp"
#include "stencil/solver.hpp"
#include "stencil/temporal/temporal_kernels.hpp"

namespace starling::stencil {
namespace {

// A domain with so many cells a side on each PE.
problem<float> square(const machine& m, index_t side) {
  problem<float> p;
  p.shape = {side * m.size(), side};
  p.coefficients = jacobi_coefficients<float>(2);
  return p;
}

// Time of a step: the shortest of a few runs.
class stopwatch {
 public:
  stopwatch(const machine& m, double seconds, const std::function<void()>& poll)
      : machine_(m), seconds_(seconds), poll_(poll) {}

  double us(index_t side, variant how, std::size_t shared_bytes = 0) const {
    solver<float> s(machine_, square(machine_, side));
    const std::vector<float> u(static_cast<std::size_t>(side * side * machine_.size()), 1.0f);
    s.load(u.data());
    run_options o{.how = how, .steps = 8};
    o.shared_bytes = shared_bytes;
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
    if (poll_) poll_();
    return s.advance(o).seconds / static_cast<double>(o.steps);
  }

  machine machine_;
  double seconds_;
  const std::function<void()>& poll_;
};

// The tiny domain that it is for does not keep a share of a GPU busy either, so the whole GPU will do.
machine machine_of_one(const machine& m) {
  return m.kind() == machine_kind::host
             ? machine::host(1)
             : machine::cuda({m.device(static_cast<int>(m.local_pes().begin)).id}, {.pes_per_gpu = 1});
}

// What a step of a tile of a domain of the stopwatch's computes; 0 where its tiles do not fit on chip.
double work_of_tile(const machine& m, index_t side) {
  const geometry g = geometry_of(square(m, side), m.size());
  const std::optional<tile_choice> tiles = choose_tiles<float>(g, limits_of(m), {.how = variant::resident});
  return tiles ? tile_work(g, m.kind(), *tiles, sizeof(float)) : 0;
}

// Never zero or less, whatever the noise.
double at_least(double value, double least) { return std::max(value, least); }

}  // namespace

std::string tuned_device(const machine& m) {
  if (m.kind() == machine_kind::host) return "virtual device";
  const device_info& d = m.device(0);
  return d.pes_on_gpu == 1 ? d.name : message(d.name, ", 1 of ", d.pes_on_gpu, " PEs");
}

step_costs tune(const machine& m, double seconds, const std::function<void()>& poll) {
  expect<argument_error>(std::isfinite(seconds) && seconds > 0 && seconds <= 60, "stencil: tune for ", seconds,
                         " s each; must be more than 0 and at most 60");
  const bool gpu = m.kind() == machine_kind::cuda;
  const stopwatch time(m, seconds, poll);
  // Domains so small that the work in them does not show, one that keeps a PE busy, and what its cache just holds, as
  // its registers do; and large ones.
  const index_t tiny = 32;
  const index_t busy = gpu ? 1024 : 96;
  const index_t on_chip = gpu ? 2048 : 192;
  const index_t in_memory = gpu ? 8192 : 768;
  const auto cells = [](index_t side) { return static_cast<double>(side * side); };
  step_costs c;
  c.far_us = at_least(time.us(tiny, variant::resident), 1e-3);
  c.near_us = m.size() == 1 ? c.far_us : stopwatch(machine_of_one(m), seconds, poll).us(tiny, variant::resident);
  c.meet_us = time.us(tiny, variant::cpu_free);
  c.graph_us = time.us(tiny, variant::graph);
  c.host_us = time.us(tiny, variant::p2p);
  const double least = 0.05 * c.far_us;
  const double busy_us = time.us(busy, variant::cpu_free);
  const double cached_us = time.us(on_chip, variant::cpu_free);
  c.cached_cells_per_us = (cells(on_chip) - cells(busy)) / at_least(cached_us - busy_us, least);
  c.spread_us = at_least(busy_us - cells(busy) / c.cached_cells_per_us, c.meet_us);
  c.memory_cells_per_us = cells(in_memory) / at_least(time.us(in_memory, variant::cpu_free) - c.meet_us, least);
  const double work = work_of_tile(m, on_chip);
  c.chip_cells_per_us = work == 0 ? std::numeric_limits<double>::min()
                                  : work / at_least(time.us(on_chip, variant::resident) - c.far_us, least);
  // With next to nothing on chip cells are in memory.
  c.temporal_cells_per_us =
      cells(in_memory) / at_least(time.us(in_memory, variant::temporal, 16) - c.meet_us / temporal_most_depth, least);
  c.source = "measured now";
  return c;
}

}  // namespace starling::stencil
