#include "stencil/plan/launch_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "starling/base/error.hpp"
#include "stencil/core/cell_vector.hpp"

namespace starling::stencil {
namespace {

// Cells of the largest box, and of all its faces.
index_t cells(const geometry& g) { return g.largest(0) * g.largest(1) * g.largest(2); }
index_t boundary_cells(const geometry& g) {
  index_t n = 0;
  for (int a = 0; a < axes; ++a) n += g.exchanges(a) ? 2 * g.face_cells(a) : 0;
  return std::min(n, cells(g));
}

// Enough blocks that every thread has the cells that it does at once, but no more than run at once.
int natural_blocks(const geometry& g, machine_kind kind, int threads, int most) {
  if (kind == machine_kind::host) return std::min(2, most);
  const index_t interior = std::max<index_t>(cells(g) - boundary_cells(g), 1);
  const index_t wanted = ceil_div(interior, threads * measured::cells_of_thread_at_once) + g.exchanged_faces();
  return static_cast<int>(std::min<index_t>(wanted, most));
}

// Blocks for the boundary alone: the number that lets boundary and interior end together, or 0 where that is not
// clearly faster than every block doing a part of both; a few are taken from the interior where that is about as fast.
// A round of a face is two cells a thread; a block that does both parts does one after the other. Where the L2 cache
// has most of the interior, the boundary may have the blocks that it does not need, and be sooner where neighbours wait
// for them. A virtual device has one block for faces: there the roles are to be seen, in traces and reports.
int natural_boundary_blocks(const geometry& g, machine_kind kind, std::size_t cell_bytes, int blocks, int threads) {
  const int n_faces = g.exchanged_faces();
  if (n_faces == 0 || blocks < 2) return 0;
  if (kind == machine_kind::host) return 1;
  const double cells_per_round = measured::boundary_cell * 2 * threads;
  const double on_faces = static_cast<double>(boundary_cells(g));
  const double interior = static_cast<double>(cells(g)) - on_faces;
  const double enough = interior * static_cast<double>(cell_bytes) < measured::bytes_in_cache
                            ? measured::blocks_that_saturate_cache * blocks
                            : blocks;
  const auto interior_by = [&](int n) { return interior / std::min<double>(n, enough); };
  const auto rounds = [&](double chunks) { return std::ceil(on_faces / (2.0 * chunks * threads)); };
  const double shared = rounds(blocks) * cells_per_round + interior_by(blocks);
  const int few = std::max(n_faces, blocks / measured::blocks_for_each_few);
  double least = std::numeric_limits<double>::infinity();
  double least_faces = 0;
  int best = 0;
  for (int n = 1; n <= std::max(blocks / 2, 1); ++n) {
    if (n > n_faces && n % n_faces != 0) continue;  // chunks of equal size
    const int chunks = std::max(n / n_faces, 1);
    const double chunks_per_block = std::ceil(static_cast<double>(n_faces) * chunks / n);
    const double faces = chunks_per_block * rounds(n_faces * chunks) * cells_per_round;
    const double slower = std::max(faces, interior_by(blocks - n));
    if (slower > (n <= few ? measured::as_fast_boundary : measured::clearly_faster_boundary) * shared) continue;
    if (slower > least || (slower == least && faces >= least_faces)) continue;
    least = slower;
    least_faces = faces;
    best = n;
  }
  return best;
}

}  // namespace

template <class T>
launch_shape choose_launch(const geometry& g, machine_kind kind, const run_options& options,
                           const std::function<int(int threads, bool dynamic)>& fits, int most_chosen) {
  expect<argument_error>(options.blocks >= 0, "stencil: blocks = ", options.blocks,
                         "; must be at least 1, or 0 to choose");
  launch_shape s;
  const bool dynamic = scheduled_dynamically<T>(g) && options.threads <= queue_most_threads;
  s.threads = options.threads > 0 ? options.threads
              : dynamic           ? queue_most_threads
                                  : measured::threads_of_step(g.active[0], cells(g));
  const int most = fits(s.threads, dynamic);
  expect<launch_error>(options.blocks <= most, "stencil: blocks = ", options.blocks, " per PE, but only ", most,
                       " fit at once with ", s.threads, " threads each; ask for fewer, or 0 to choose");
  const int chosen = most_chosen > 0 ? std::min(most_chosen, most) : most;
  s.blocks = options.blocks > 0 ? options.blocks : natural_blocks(g, kind, s.threads, chosen);
  expect<argument_error>(options.boundary_blocks < s.blocks, "stencil: boundary_blocks = ", options.boundary_blocks,
                         " of ", s.blocks,
                         " blocks; leave one for the interior at least, or ask for 0, and every block does both");
  s.boundary_blocks = options.boundary_blocks >= 0 ? options.boundary_blocks
                      : dynamic                    ? 0  // a block that does the boundary takes the fewer tiles
                                                   : natural_boundary_blocks(g, kind, sizeof(T), s.blocks, s.threads);
  if (g.exchanged_faces() > 0) s.chunks = std::clamp(s.blocks_of_boundary() / g.exchanged_faces(), 1, most_chunks);
  // Blocks that do the boundary alone are blocks of the same launch only where one launch does the whole step.
  const bool one_launch = options.how == variant::cpu_free || options.how == variant::graph;
  const bool host = kind == machine_kind::host;
  s.interior = partition_interior<T>(g, one_launch ? s.blocks - s.boundary_blocks : s.blocks, host ? 1 : s.threads,
                                     host ? 1 : cell_vector<T>::width, dynamic);
  return s;
}

template launch_shape choose_launch<float>(const geometry&, machine_kind, const run_options&,
                                           const std::function<int(int, bool)>&, int);
template launch_shape choose_launch<double>(const geometry&, machine_kind, const run_options&,
                                            const std::function<int(int, bool)>&, int);

}  // namespace starling::stencil
