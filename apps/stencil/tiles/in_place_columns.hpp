// How the threads of a block share a tile in three dimensions that they keep in one array: each has a group
// of columns side by side, as many as 16 bytes hold, in two rows of a layer; of the layers it has all, or a segment.
// Whole warps have a segment, so that a barrier of these is enough between threads that have the same layers.
#pragma once

#include "starling/device/loops.hpp"
#include "stencil/core/cell_vector.hpp"
#include "stencil/tiles/tile_cells.hpp"

namespace starling::stencil {

// Segments have a barrier each, of those that a block has besides its own.
inline constexpr int most_in_place_segments = 15;

// Rows of a group of columns. What two rows read beside them serves twice as many cells.
inline constexpr int in_place_rows = 2;

// Groups of columns that cover a layer of so many rows, whose cells are as many as vectors_of_row says.
constexpr index_t in_place_columns_of(index_t rows, index_t row_cells, index_t ghost, int width) {
  return vectors_of_row(row_cells, ghost, width) * ceil_div(rows, index_t{in_place_rows});
}

// One thread's columns: all that a loop over steps need not work out again.
template <class T>
class in_place_columns {
 public:
  static constexpr int along = 0;  // the axis of the layers
  static constexpr int width = cell_vector<T>::width;
  static constexpr int rows = in_place_rows;

  struct layers {
    int begin;
    int count;
  };

  // For steps that leave at most `reach` layers of the ghost zone known. Members are at least as many as groups of
  // columns.
  STARLING_HD in_place_columns(const tile& mine, int reach, int member, int members) : mine_(mine) {
    const int first_x = round_down(mine.begin(2, reach), width);
    const int first_row = mine.begin(1, reach);
    const int vectors = vectors_of(mine, reach);
    const int count = in_place_columns::count(mine, reach);
    if (count <= 0) return;
    warps_ = (count + target::warp_size - 1) / target::warp_size * target::warp_size;
    segments_ = clamp(members / warps_, 1, most_in_place_segments);
    segment_ = member / warps_;
    const int number = member - segment_ * warps_;
    idle_ = segment_ >= segments_ || number >= count;
    // What an idle thread loads for nothing has to be there.
    const int column = idle_ ? 0 : number;
    row_ = first_row + column / vectors * rows;
    const int vector = column % vectors;
    x_ = first_x + vector * width;
    const int lane = member % target::warp_size;
    first_ = (lane == 0 || vector == 0) && x_ >= mine.begin(2, reach);
    last_ = (lane == target::warp_size - 1 || vector == vectors - 1) && x_ + width <= mine.end(2, reach);
    updated_ = bits(0);
  }

  // All of a tile's.
  STARLING_HD static int count(const tile& mine, int reach) {
    const int n = mine.end(1, reach) - mine.begin(1, reach);
    return n <= 0 ? 0 : vectors_of(mine, reach) * ((n + rows - 1) / rows);
  }

  // A barrier of all threads that have the same layers.
  template <class Group>
  STARLING_HD void sync(const Group& g) const {
    if (!target::on_gpu || segments_ == 1)
      g.sync();
    else if (warps_ == target::warp_size)
      target::sync_warp();
    else if (segment_ < segments_)
      target::sync_part(1 + segment_, warps_);
  }
  STARLING_HD int segments() const { return segments_; }

  STARLING_HD int row() const { return row_; }
  STARLING_HD int x() const { return x_; }
  // Whether steps need the cell before a row of it, or the one after it, and no lane beside this one has that.
  STARLING_HD bool first() const { return first_; }
  STARLING_HD bool last() const { return last_; }

  // A bit for each cell of a layer of it, row by row, that a step computes which leaves `reach` layers of the ghost
  // zone.
  STARLING_HD unsigned updated(int reach) const { return reach == 0 ? updated_ : bits(reach); }

  // Its share of some layers, and the largest share of any thread.
  STARLING_HD layers share_of(int begin, int end) const {
    const int each = most_of(begin, end);
    const int first = begin + segment_ * each;
    const int left = end - first;
    return {first, idle_ || left < 0 ? 0 : left < each ? left : each};
  }
  STARLING_HD int most_of(int begin, int end) const { return (end - begin + segments_ - 1) / segments_; }

 private:
  STARLING_HD static int vectors_of(const tile& mine, int reach) {
    const int n = mine.end(2, reach) - round_down(mine.begin(2, reach), width);
    return n <= 0 ? 0 : (n + width - 1) / width;
  }
  STARLING_HD unsigned bits(int reach) const {
    if (idle_) return 0;
    const unsigned in_row = bits_between(mine_.begin(2, reach) - x_, mine_.end(2, reach) - x_, width);
    const unsigned in_column = bits_between(mine_.begin(1, reach) - row_, mine_.end(1, reach) - row_, rows);
    unsigned all = 0;
    for (int r = 0; r < rows; ++r)
      if ((in_column >> r & 1) != 0) all |= in_row << (r * width);
    return all;
  }

  const tile& mine_;
  int row_ = 0;
  int x_ = 0;
  int segment_ = 0;
  int segments_ = 1;
  int warps_ = 1;         // threads of a segment
  unsigned updated_ = 0;  // in a step that leaves none of the ghost zone
  bool idle_ = true;
  bool first_ = true;
  bool last_ = true;
};

}  // namespace starling::stencil
