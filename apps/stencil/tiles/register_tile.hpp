// How the warps of a block share a tile in two dimensions whose cells are in their registers: each has a band of whole
// rows, of which each lane has 16 bytes side by side.
#pragma once

#include "starling/base/index.hpp"

namespace starling::stencil {

// Rows that a band may have: programs are compiled for each of them. More do not fit into registers.
inline constexpr int band_rows[] = {2, 4, 8, 12, 16};
// Where tiles exchange less often than every step: that is for small ones.
inline constexpr int most_deep_halo_band_rows = 8;

// Vectors of a row of a band, and from row to row of the array in shared memory: room for the ghost zone too, and an
// odd number, so that edges across rows do not all fall into one bank of shared memory.
inline constexpr int band_vectors = 32;
inline constexpr int band_pitch = band_vectors + 3;

struct register_tile {
  int rows = 0;   // of a band; 0: cells are not in registers
  int count = 0;  // a warp each

  constexpr bool used() const { return rows > 0; }
  // Rows that pass through the busiest quarter of a multiprocessor in a step.
  constexpr int rows_in_turn() const { return (count + 3) / 4 * rows; }
};

// What a step of all bands takes, in cells of an array in shared memory that take as long: on H200 a cell in registers
// took half the time (bench/cpu_free_stencil/results/tiles).
constexpr double cells_of_register_tile(const register_tile& g) { return 256.0 * g.rows_in_turn(); }

// The bands of at most `most_warps` warps that soonest make a step of so many rows; some tiles may have as few as
// `fewest`, but no fewer than a band. None if that cannot be.
constexpr register_tile register_tile_for(index_t rows, index_t fewest, int depth, int most_warps) {
  register_tile best;
  for (const int each : band_rows) {
    if (fewest < each || (depth > 1 && each > most_deep_halo_band_rows) || ceil_div(rows, each) > most_warps) continue;
    const register_tile g{each, static_cast<int>(ceil_div(rows, each))};
    if (!best.used() || g.rows_in_turn() < best.rows_in_turn()) best = g;
  }
  return best;
}

}  // namespace starling::stencil
