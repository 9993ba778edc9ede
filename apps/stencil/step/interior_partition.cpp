#include "stencil/step/interior_partition.hpp"

#include <algorithm>
#include <limits>

#include "stencil/plan/measured.hpp"
#include "stencil/step/column_stream.hpp"

namespace starling::stencil {
namespace {

// The axis of the columns.
int axis_along(const geometry& g) { return g.active[0] ? 0 : 1; }

// Of the largest tile.
index_t columns_of(const geometry& g, int width, const interior_partition& c) {
  return ceil_div(g.largest(2), width) * (g.active[0] ? ceil_div(g.largest(1), c.parts[1]) : 1);
}
index_t length_of(const geometry& g, const interior_partition& c) {
  return ceil_div(g.largest(axis_along(g)), c.parts[axis_along(g)]);
}

// What the block with the largest tile does, in vectors that one of its threads loads from memory or the L2 cache:
// a thread starts a segment with two more, and the rows beside a tile are others' rows.
double cost(const geometry& g, int threads, int width, const interior_partition& c) {
  const index_t length = ceil_div(length_of(g, c), c.segments) + 2;
  const auto rounds = static_cast<double>(ceil_div(columns_of(g, width, c) * c.segments, threads));
  if (!g.active[0]) return rounds * static_cast<double>(length);
  const double rows = std::clamp(static_cast<double>(threads) / static_cast<double>(ceil_div(g.largest(2), width)), 1.0,
                                 static_cast<double>(ceil_div(g.largest(1), c.parts[1])));
  return rounds * static_cast<double>(length) * (1 + 0.5 / rows);
}

interior_partition one_tile_each(const geometry& g, int blocks, int threads, int width) {
  interior_partition best;
  double least = std::numeric_limits<double>::infinity();
  for (int across = 1; across <= (g.active[0] ? blocks : 1); ++across) {
    interior_partition c{.blocks = blocks};
    c.parts[axis_along(g)] = blocks / across;
    if (g.active[0]) c.parts[1] = across;
    c.segments = segments_for(static_cast<int>(columns_of(g, width, c)), static_cast<int>(length_of(g, c)), threads);
    const double costs = cost(g, threads, width, c);
    if (costs >= least) continue;
    least = costs;
    best = c;
  }
  return best;
}

// Vectors of a row that a queued tile has: as many as a block has threads in two dimensions, a warp's in three, where
// rows beside each other share what they load; or fewer, if rows are such that threads would have nothing to do.
int vectors_of_queue_tile(const geometry& g, int threads, int in_row) {
  if (threads == 1) return in_row;
  constexpr int warp = 32;
  int best = 1;
  int most_busy = 0;
  for (int most = g.active[0] ? std::min(warp, threads) : threads; most >= std::min(warp, threads); most /= 2) {
    const int tiles = (in_row + most - 1) / most;
    const int vectors = (in_row + tiles - 1) / tiles;
    // Of as many threads as have a vector of each of the tiles of a row on average.
    const int busy = threads / vectors * in_row / tiles;
    if (busy <= most_busy) continue;
    most_busy = busy;
    best = vectors;
  }
  return best;
}

template <class T>
interior_partition queue_tiles(const geometry& g, int blocks, int threads, int width) {
  const int length = queue_segment_length<T>(g.active[0] ? 3 : 2);
  const auto in_row = static_cast<int>(ceil_div(g.largest(2), width));
  const int vectors = vectors_of_queue_tile(g, threads, in_row);
  const int rows = threads == 1 ? 8 : threads / vectors;
  interior_partition c{.blocks = blocks};
  c.queue_extent[2] = vectors * width;
  if (g.active[0]) c.queue_extent[1] = static_cast<int>(std::min<index_t>(rows, g.largest(1)));
  c.segments = threads == 1 ? 1 : threads / (vectors * std::max(c.queue_extent[1], 1));
  c.queue_extent[axis_along(g)] = length * c.segments;
  if (!g.active[0]) c.queue_extent[0] = 1;
  for (int a = 0; a < axes; ++a) c.parts[a] = static_cast<int>(ceil_div(g.largest(a), c.queue_extent[a]));
  return c;
}

}  // namespace

template <class T>
bool scheduled_dynamically(const geometry& g) {
  const index_t bytes = g.largest(0) * g.largest(1) * g.largest(2) * index_t{sizeof(T)};
  constexpr index_t longest = 1 << 30;  // tiles are found with ints
  if (std::max({g.largest(0), g.largest(1), g.largest(2)}) > longest) return false;
  return !g.exchanges(2) && bytes > measured::bytes_of_dynamic_tiles(g.active[0]);
}

template <class T>
interior_partition partition_interior(const geometry& g, int blocks, int threads, int width, bool dynamic) {
  return dynamic ? queue_tiles<T>(g, blocks, threads, width) : one_tile_each(g, blocks, threads, width);
}

template bool scheduled_dynamically<float>(const geometry&);
template bool scheduled_dynamically<double>(const geometry&);
template interior_partition partition_interior<float>(const geometry&, int, int, int, bool);
template interior_partition partition_interior<double>(const geometry&, int, int, int, bool);

}  // namespace starling::stencil
