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

}  // namespace

inside_cut cut_inside(const geometry& g, int blocks, int threads, int width) {
  inside_cut best;
  double least = std::numeric_limits<double>::infinity();
  for (int across = 1; across <= (g.active[0] ? blocks : 1); ++across) {
    inside_cut c{g.active[0] ? 0 : 1, blocks / across, across, 1};
    c.segments = segments_for(static_cast<int>(columns_of(g, width, c)), static_cast<int>(length_of(g, c)), threads);
    const double costs = cost(g, threads, width, c);
    if (costs >= least) continue;
    least = costs;
    best = c;
  }
  return best;
}

}  // namespace starling::stencil
