// How the warps of a block share a tall tile in two dimensions, one of more cells than their registers hold: each has a
// band of whole rows, of which each lane has 16 bytes side by side. Some of them are in registers, others on chip as
// far as there is room, and the rest in memory. The first and the last row are on chip, with two places each.
#pragma once

#include "starling/base/index.hpp"
#include "stencil/bands.hpp"

namespace starling::stencil {

// Rows of a band in registers; programs are compiled for them.
inline constexpr int tall_register_rows = 16;
// With fewer bands much of a multiprocessor would be idle.
inline constexpr int fewest_tall_bands = 8;
// Places for a band's ends, for the rows beyond a tile, and columns at its sides that a block keeps apart.
inline constexpr int tall_end_rows = 4;
inline constexpr int tall_ring_rows = 4;
inline constexpr int tall_sides = 2;

struct tall_bands {
  int count = 0;  // a warp each; 0: tiles are not kept so
  int register_rows = 0;
  int chip_rows = 0;    // of a band at most, without its ends
  int memory_rows = 0;  // likewise

  constexpr bool used() const { return count > 0; }
  constexpr int rows_not_in_memory() const { return 2 + register_rows + chip_rows; }
  // Of a tile of so many rows. Bands begin at even rows, since packets hold two cells one above the other.
  constexpr index_range rows_of(int band, int rows) const {
    const index_range pairs = share(ceil_div(rows, 2), count, band);
    return {2 * pairs.begin, 2 * pairs.end < rows ? 2 * pairs.end : rows};
  }
};

// From the cells of one side to those of the other; those of a side follow one another.
constexpr index_t tall_side_pitch(index_t rows) { return round_up(rows, 4); }

// A band has its ends and a row on chip besides those in registers.
constexpr int least_tall_band(int register_rows) { return register_rows + 3; }

// What computing all bands of so many rows takes, in cells of an array on chip that take as long: about 50 instructions
// a row, where bands that are all in registers have 31.
constexpr double cells_of_tall_bands(const tall_bands& b, index_t rows) {
  constexpr int row_of_each_quarter = 400;
  return static_cast<double>(row_of_each_quarter * ((b.count + 3) / 4) * ceil_div(rows, b.count));
}

// The same with the transfers of rows in memory, half of which are hidden, or half of the computing if that is less.
// Expected, not measured.
constexpr double cells_of_tall_step(const tall_bands& b, index_t rows) {
  constexpr double row_in_memory = 250;
  const double computing = cells_of_tall_bands(b, rows);
  const double transfers = row_in_memory * b.count * b.memory_rows;
  return computing > transfers ? computing + transfers / 2 : transfers + computing / 2;
}

}  // namespace starling::stencil
