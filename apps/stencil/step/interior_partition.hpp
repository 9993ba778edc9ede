// How the interior of a box is cut into tiles for the blocks that compute it: plain data and arithmetic that kernels
// and host share.
#pragma once

#include "stencil/core/geometry.hpp"

namespace starling::stencil {

struct interior_tile {
  index_range zs, ys, xs;

  constexpr bool empty() const { return zs.empty() || ys.empty() || xs.empty(); }
};

// Where a tile of the queue begins. It has whole vectors of a row, so it may begin before the interior does.
struct tile_start {
  int z, y, x;
};

// Threads go along columns of cells, which lie along z in three dimensions, along y in two. Either each block has one
// tile at most, of whole rows, since these are contiguous in memory; or tiles are scheduled dynamically: blocks take
// them from a queue in the order of memory (tile_queue.hpp).
struct interior_partition {
  int parts[axes] = {1, 1, 1};         // tiles along each axis, numbered with x fastest
  int queue_extent[axes] = {0, 0, 0};  // cells of a tile of the queue along each axis; 0: there is no queue
  int segments = 1;                    // into which the threads of a block cut their columns
  int blocks = 1;                      // that share the tiles

  constexpr bool dynamic() const { return queue_extent[2] > 0; }
  constexpr int tiles() const { return parts[0] * parts[1] * parts[2]; }
  constexpr interior_tile tile(const box& own, int index) const {
    if (dynamic()) return queue_tile(own, queue_start(first_of(own), index));
    const tile_start at = place(index);
    return {part(own.interior[0], 0, at.z), part(own.interior[1], 1, at.y), part(own.interior[2], 2, at.x)};
  }

  // Of tiles of the queue: where the first begins, where one does, and which cells it has.
  static constexpr tile_start first_of(const box& own) {
    return {static_cast<int>(own.interior[0].begin), static_cast<int>(own.interior[1].begin), 0};
  }
  constexpr tile_start queue_start(const tile_start& first, int index) const {
    const tile_start at = place(index);
    return {first.z + at.z * queue_extent[0], first.y + at.y * queue_extent[1], first.x + at.x * queue_extent[2]};
  }
  constexpr interior_tile queue_tile(const box& own, const tile_start& at) const {
    return {queue_part(own.interior[0], at.z, queue_extent[0]), queue_part(own.interior[1], at.y, queue_extent[1]),
            queue_part(own.interior[2], at.x, queue_extent[2])};
  }

 private:
  // Which of the parts along each axis.
  constexpr tile_start place(int index) const {
    const int row = index / parts[2];
    return {row / parts[1], row % parts[1], index % parts[2]};
  }
  static constexpr index_range queue_part(index_range whole, index_t begin, index_t cells) {
    const index_t end = begin + cells;
    return {begin > whole.begin ? begin : whole.begin, end < whole.end ? end : whole.end};
  }
  constexpr index_range part(index_range whole, int axis, int at) const {
    if (whole.empty()) return {};
    if (parts[axis] == 1) return whole;  // no divisions, which a short step would feel
    const index_range mine = share(whole.size(), parts[axis], at);
    return {whole.begin + mine.begin, whole.begin + mine.end};
  }
};

// With a queue: the most threads of a block, and the least blocks that a multiprocessor has at once.
inline constexpr int queue_most_threads = 256;
inline constexpr int queue_least_blocks = 3;

// Cells of a column that are under way at once in a tile of the queue, as many as there are registers for, and how long
// a segment of a column is there: so short that the tiles of all blocks are a narrow band of the array, and so long
// that what is beyond its ends, which is read twice, is little.
template <class T>
constexpr int queue_cells_at_once(int dimensions) {
  return (dimensions == 2 ? 4 : 3) - (sizeof(T) == 8 ? 1 : 0);
}
template <class T>
constexpr int queue_segment_length(int dimensions) {
  return dimensions == 3 ? 12 : sizeof(T) == 8 ? 9 : 8;
}

// Whether an array of the largest box is so much larger than a GPU's L2 cache that dynamic scheduling is
// faster. Never where PEs exchange along x: a tile of the queue stores whole vectors, with the cells beside the
// interior, which have to be Dirichlet cells.
template <class T>
bool scheduled_dynamically(const geometry& g);

// The cut for so many blocks of so many threads, each of which does a vector of cells at a time, or one cell (`width`).
template <class T>
interior_partition partition_interior(const geometry& g, int blocks, int threads, int width, bool dynamic);

}  // namespace starling::stencil
