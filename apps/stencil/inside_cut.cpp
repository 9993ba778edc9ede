#include "stencil/inside_cut.hpp"

#include <algorithm>
#include <limits>

#include "stencil/column_march.hpp"

namespace starling::stencil {
namespace {

// Of the largest piece.
index_t columns_of(const geometry& g, int width, const inside_cut& c) {
  return ceil_div(g.largest(2), width) * (c.along_axis == 0 ? ceil_div(g.largest(1), c.across) : 1);
}
index_t length_of(const geometry& g, const inside_cut& c) { return ceil_div(g.largest(c.along_axis), c.along); }

// What the block with the largest piece does, in vectors that one of its threads loads from memory or the second cache:
// a thread starts a segment with two more, and the rows beside a piece are others' rows.
double cost(const geometry& g, int threads, int width, const inside_cut& c) {
  const index_t length = ceil_div(length_of(g, c), c.segments) + 2;
  const auto rounds = static_cast<double>(ceil_div(columns_of(g, width, c) * c.segments, threads));
  if (c.along_axis != 0) return rounds * static_cast<double>(length);
  const double rows = std::clamp(static_cast<double>(threads) / static_cast<double>(ceil_div(g.largest(2), width)), 1.0,
                                 static_cast<double>(ceil_div(g.largest(1), c.across)));
  return rounds * static_cast<double>(length) * (1 + 0.5 / rows);
}

// Pieces as wide as a block has columns under way. So low that those of all blocks are a narrow band of the array, and
// so high that the rows above and below, which are read twice, are few. With 32 rows an H200 was as fast; no
// result file holds that.
inside_cut taken_in_turn(const geometry& g, int blocks, int threads, int width) {
  inside_cut c;
  c.rows = 16;
  c.columns = threads * width;
  c.along = static_cast<int>(ceil_div(g.largest(1), c.rows));
  c.beside = static_cast<int>(ceil_div(g.largest(2), c.columns));
  c.blocks = blocks;
  return c;
}

}  // namespace

inside_cut cut_inside(const geometry& g, int blocks, int threads, int width, index_t cached) {
  const index_t cell_bytes = 16 / width;
  if (!g.active[0] && threads > 1 && g.largest(1) * g.largest(2) * cell_bytes > cached)
    return taken_in_turn(g, blocks, threads, width);
  inside_cut best;
  double least = std::numeric_limits<double>::infinity();
  for (int across = 1; across <= (g.active[0] ? blocks : 1); ++across) {
    inside_cut c{.along_axis = g.active[0] ? 0 : 1, .along = blocks / across, .across = across, .blocks = blocks};
    c.segments = segments_for(static_cast<int>(columns_of(g, width, c)), static_cast<int>(length_of(g, c)), threads);
    const double costs = cost(g, threads, width, c);
    if (costs >= least) continue;
    least = costs;
    best = c;
  }
  return best;
}

}  // namespace starling::stencil
