// How the interior of a box is dealt to the blocks that compute it: plain data and arithmetic that kernels and host
// share.
#pragma once

#include "stencil/core/geometry.hpp"

namespace starling::stencil {

struct interior_piece {
  index_range zs, ys, xs;

  constexpr bool empty() const { return zs.empty() || ys.empty() || xs.empty(); }
};

// Where a low piece begins. Its cells of a row are whole vectors, so that it may begin before the interior does.
struct piece_start {
  int z, y, x;
};

// Threads go along columns of cells, which lie along z in three dimensions, along y in two. Either each block has one
// piece at most, which has whole rows, since these lie in memory as a whole; or blocks take low pieces in turn: whoever
// is done takes the next in the order of memory, so that what is under way lies side by side in memory.
struct interior_partition {
  int parts[axes] = {1, 1, 1};  // pieces along each axis, numbered with x fastest
  int low[axes] = {0, 0, 0};    // cells of a low piece along each axis; 0: there are none
  int segments = 1;             // into which the threads of a block cut their columns
  int blocks = 1;               // that share the pieces

  constexpr bool in_turn() const { return low[2] > 0; }
  constexpr int pieces() const { return parts[0] * parts[1] * parts[2]; }
  constexpr interior_piece piece(const box& own, int index) const {
    if (in_turn()) return low_piece(own, low_start(first_of(own), index));
    const piece_start at = place(index);
    return {part(own.interior[0], 0, at.z), part(own.interior[1], 1, at.y), part(own.interior[2], 2, at.x)};
  }

  // Of those that are taken in turn: where the first begins, where one does, and which cells it has.
  static constexpr piece_start first_of(const box& own) {
    return {static_cast<int>(own.interior[0].begin), static_cast<int>(own.interior[1].begin), 0};
  }
  constexpr piece_start low_start(const piece_start& first, int index) const {
    const piece_start at = place(index);
    return {first.z + at.z * low[0], first.y + at.y * low[1], first.x + at.x * low[2]};
  }
  constexpr interior_piece low_piece(const box& own, const piece_start& at) const {
    return {low_part(own.interior[0], at.z, low[0]), low_part(own.interior[1], at.y, low[1]),
            low_part(own.interior[2], at.x, low[2])};
  }

 private:
  // Which of the parts along each axis.
  constexpr piece_start place(int index) const {
    const int row = index / parts[2];
    return {row / parts[1], row % parts[1], index % parts[2]};
  }
  static constexpr index_range low_part(index_range whole, index_t begin, index_t cells) {
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

// Threads of a block that takes pieces in turn at most, and blocks that a multiprocessor has at once.
inline constexpr int most_threads_in_turn = 256;
inline constexpr int least_blocks_in_turn = 3;

// Cells of a column that are under way at once in a low piece, as many as there are registers for, and how long a
// segment of a column is there: so short that the pieces of all blocks are a narrow band of the array, and so long that
// what is beyond its ends, which is read twice, is little.
template <class T>
constexpr int cells_at_once_in_turn(int dimensions) {
  return (dimensions == 2 ? 4 : 3) - (sizeof(T) == 8 ? 1 : 0);
}
template <class T>
constexpr int segment_in_turn(int dimensions) {
  return dimensions == 3 ? 12 : sizeof(T) == 8 ? 9 : 8;
}

// Whether an array of the largest box is so much more than the second cache of a GPU holds that pieces in turn are
// faster. Never where PEs exchange along x: in a low piece whole vectors are stored, with the cells beside the
// interior, which have to be held ones.
template <class T>
bool taken_in_turn(const geometry& g);

// The cut for so many blocks of so many threads, each of which does a vector of cells at a time, or one cell (`width`).
template <class T>
interior_partition partition_interior(const geometry& g, int blocks, int threads, int width, bool in_turn);

}  // namespace starling::stencil
