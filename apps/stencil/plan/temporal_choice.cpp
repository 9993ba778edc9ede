#include "stencil/plan/temporal_choice.hpp"

#include <algorithm>

#include "starling/base/error.hpp"
#include "stencil/plan/measured.hpp"
#include "stencil/temporal/row_prefetch.hpp"
#include "stencil/temporal/temporal_kernels.hpp"

namespace starling::stencil {
namespace {

// Steps in a pass; 1 where no pass of several is possible.
int temporal_depth(const geometry& g, const run_options& options) {
  if (g.active[0] || g.largest(1) >= 1 << 30 || g.largest(2) >= 1 << 30) return 1;
  index_t most = temporal_most_depth;
  for (int a = 1; a < axes; ++a)
    if (g.exchanges(a)) most = std::min(most, g.extent[a] / g.parts[a]);
  if (options.depth > most) return 1;
  if (options.depth > 0) return options.depth;
  // A pass ends where convergence is checked.
  return static_cast<int>(options.check_every > 0 ? std::min(most, options.check_every) : most);
}

// So many segments for each strip that every warp of every PE has one item. A strip with Dirichlet columns has more,
// since it is as much more work.
void cut_strips(const geometry& g, strip_layout& m, int warps) {
  using measured::strip_with_dirichlet_columns;
  double parts = 1;
  for (int pe = 0; pe < g.n_pes(); ++pe) {
    const box own = box_of(g, pe);
    double work = 0;
    for (int s = 0; s < m.strips(own); ++s) work += m.has_dirichlet_columns(own, s) ? strip_with_dirichlet_columns : 1;
    parts = std::max(parts, work);
  }
  const int rows = static_cast<int>(g.largest(1));
  m.segments = std::clamp(static_cast<int>(warps / parts), 1, rows);
  m.dirichlet_segments = std::clamp(static_cast<int>(strip_with_dirichlet_columns * warps / parts), 1, rows);
}

temporal_choice passes(const geometry& g, const tile_limits& limits, const run_options& options, int depth,
                       index_t cell_bytes, int lane_cells) {
  expect<argument_error>(options.threads <= temporal_most_threads, "stencil: threads = ", options.threads,
                         "; passes of several steps have at most ", temporal_most_threads,
                         ": ask for fewer, or 0 to choose");
  const bool gpu = limits.kind == machine_kind::cuda;
  temporal_choice c;
  c.blocks = options.blocks > 0 ? options.blocks : gpu ? limits.blocks : std::min(2, limits.blocks);
  c.threads = options.threads > 0 ? options.threads : temporal_most_threads;
  strip_layout& m = c.layout;
  m.depth = depth;
  m.margin = static_cast<int>(round_up(depth, 16 / cell_bytes));
  m.columns = (gpu ? 32 : 1) * lane_cells - 2 * m.margin;
  cut_strips(g, m, c.blocks * (gpu ? c.threads / 32 : 1));
  // Rows start at multiples of 128 bytes, after the margin of the first strip. The last may be read past its own end.
  const index_t line = 128 / cell_bytes;
  const index_t before = round_up(m.margin, line);
  m.pitch = before + round_up(round_up(g.largest(2), m.columns) + m.margin, line);
  const index_t ghost = g.exchanges(1) ? depth : 0;
  m.origin = ghost * m.pitch + before;
  m.elements = (g.largest(1) + 2 * ghost) * m.pitch;
  return c;
}

}  // namespace

template <class T>
cell_plan plan_cells(const geometry& g, const tile_limits& limits, const run_options& options) {
  const std::optional<tile_choice> tiles = choose_tiles<T>(g, limits, options);
  const int depth = options.how == variant::temporal ? temporal_depth(g, options) : 1;
  if (depth > 1 && (!tiles || tiles->grid.memory_elements > 0))
    return passes(g, limits, options, depth, sizeof(T), pipeline_lane_cells<T>(limits.kind == machine_kind::cuda));
  if (tiles) return *tiles;
  const std::size_t bytes =
      options.shared_bytes > 0 ? std::min(options.shared_bytes, limits.scratch_bytes) : limits.scratch_bytes;
  return plain_steps{message("the steps of cpu_free: no tiles of ", name(options.how),
                             " fit on chip, where a block has ", bytes, " bytes")};
}

template cell_plan plan_cells<float>(const geometry&, const tile_limits&, const run_options&);
template cell_plan plan_cells<double>(const geometry&, const tile_limits&, const run_options&);

}  // namespace starling::stencil
