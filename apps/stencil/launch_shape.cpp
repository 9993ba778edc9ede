#include "stencil/launch_shape.hpp"

#include <algorithm>

#include "starling/base/error.hpp"

namespace starling::stencil {
namespace {

// Cells of the largest box, and of all its faces.
index_t cells(const geometry& g) { return g.largest(0) * g.largest(1) * g.largest(2); }
index_t cells_on_faces(const geometry& g) {
  index_t n = 0;
  for (int a = 0; a < axes; ++a) n += g.exchanges(a) ? 2 * g.face_cells(a) : 0;
  return std::min(n, cells(g));
}

// Enough blocks that every thread has a cell, but no more than run at once.
int natural_blocks(const geometry& g, machine_kind kind, int threads, int most) {
  if (kind == machine_kind::host) return std::min(2, most);
  const index_t inside = std::max<index_t>(cells(g) - cells_on_faces(g), 1);
  const index_t wanted = ceil_div(inside, threads) + g.exchanged_faces();
  return static_cast<int>(std::min<index_t>(wanted, most));
}

// In proportion to the cells, but a block for each face where there are enough.
int natural_face_blocks(const geometry& g, int blocks) {
  const int n_faces = g.exchanged_faces();
  if (n_faces == 0 || blocks < 2) return 0;
  const double part = static_cast<double>(cells_on_faces(g)) / static_cast<double>(cells(g));
  const int by_work = static_cast<int>(part * blocks + 0.5);
  return std::clamp(std::max(by_work, std::min(n_faces, blocks / 2)), 1, blocks - 1);
}

}  // namespace

launch_shape choose_launch(const geometry& g, machine_kind kind, const run_options& options,
                           const std::function<int(int threads)>& fits) {
  expect<argument_error>(options.blocks >= 0, "stencil: blocks = ", options.blocks,
                         "; must be at least 1, or 0 to choose");
  launch_shape s;
  s.threads = options.threads > 0 ? options.threads : 512;
  const int most = fits(s.threads);
  expect<launch_error>(options.blocks <= most, "stencil: blocks = ", options.blocks, " per PE, but only ", most,
                       " fit at once with ", s.threads, " threads each; ask for fewer, or 0 to choose");
  s.blocks = options.blocks > 0 ? options.blocks : natural_blocks(g, kind, s.threads, most);
  s.face_blocks = natural_face_blocks(g, s.blocks);
  if (g.exchanged_faces() > 0) s.chunks = std::clamp(s.face_blocks / g.exchanged_faces(), 1, most_chunks);
  return s;
}

}  // namespace starling::stencil
