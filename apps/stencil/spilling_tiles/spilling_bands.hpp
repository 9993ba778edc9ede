// How the warps of a block share a spilling register tile in two dimensions, one of more cells than their registers
// hold: each has a band of whole rows, of which each lane has 16 bytes side by side. Some of them are in registers,
// others in shared memory as far as there is room, and the rest in memory. The first and the last row are in shared
// memory, with two places each.
#pragma once

#include "starling/base/index.hpp"
#include "stencil/tiles/register_tile.hpp"

namespace starling::stencil {

// Rows of a band in registers, and bands of a tile. Fewer warps with more registers each keep more cells: 168 registers
// of which 80 are cells, instead of 128 with 48.
inline constexpr int spilling_register_rows = 20;
inline constexpr int most_spilling_bands = 12;
// With fewer bands much of a multiprocessor would be idle.
inline constexpr int fewest_spilling_bands = 8;
// Places for a band's ends, for the rows beyond a tile, and columns at its sides that a block keeps apart.
inline constexpr int spilling_end_rows = 4;
inline constexpr int spilling_ghost_rows = 4;
inline constexpr int spilling_sides = 2;

// Elements of a row.
constexpr int spilling_pitch(int width) { return band_vectors * width; }
// Rows in memory that a warp makes between two exchanges with the tiles at its sides, at most.
inline constexpr int most_rows_of_piece = 60;

struct spilling_bands {
  int count = 0;  // a warp each; 0: tiles are not kept so
  int register_rows = 0;
  int shared_rows = 0;  // of a band at most, without its ends
  int memory_rows = 0;  // likewise
  int side_cells = 0;   // that a column at a side has room for

  constexpr bool used() const { return count > 0; }
  constexpr int rows_not_in_memory() const { return 2 + register_rows + shared_rows; }
  // Where things are in the array in shared memory, in elements: bands one after the other, each with its first row
  // twice, its last row twice and others; the rows beyond the tile twice, north and south; columns at the sides, west
  // and east.
  constexpr int band(int number, int width) const {
    return number * (spilling_end_rows + shared_rows) * spilling_pitch(width);
  }
  constexpr int ghost(bool south, int width) const {
    return band(count, width) + (south ? 2 : 0) * spilling_pitch(width);
  }
  constexpr int side(bool east, int width) const {
    return band(count, width) + spilling_ghost_rows * spilling_pitch(width) + (east ? side_cells : 0);
  }
  constexpr index_t elements(int width) const { return side(true, width) + side_cells; }

  // Of a tile of so many rows.
  constexpr index_range rows_of(int band, int rows) const { return share(rows, count, band); }
};

// What a band's warp is told of it. Places are as in spilling_bands, those of rows in memory from the block's first on.
struct spilling_place {
  int first_row = 0;  // of the tile
  int rows = 0;       // all of them
  int shared_rows = 0;
  int memory_rows = 0;
  int first = 0;   // where the first row is
  int last = 0;    // and the last one
  int before = 0;  // the row before these, and the one behind
  int after = 0;
  int shared = 0;  // other rows
  int memory = 0;
  int packet = 0;  // number of its first one among the tile's for a side
  bool first_band = false;
  bool last_band = false;
  bool dirichlet_first = false;  // its first row is not made
  bool dirichlet_last = false;
  bool registers_first = false;  // rows are in registers, shared memory, memory; otherwise the other way
};

// What a step makes of a band at a time: rows that are kept alike. Rows are counted from the band's second.
enum class spilling_part { registers, shared, memory };
struct spilling_rows {
  int begin;
  int end;
};
struct spilling_piece {
  spilling_part part;
  spilling_rows rows;
  spilling_rows taken;  // beside which cells of the neighbours are taken before it
  spilling_rows sent;   // of which cells are sent after it
  bool takes_ends;      // and for the band's ends
  bool last;            // these are made and sent with it
};

// How many pieces, and one of them in their order. What is in registers and shared memory goes together where there are
// rows in memory too: then a packet has time enough, and fewer exchanges are faster.
constexpr int pieces_of_band(int memory_rows) {
  return 2 + (memory_rows + most_rows_of_piece - 1) / most_rows_of_piece;
}
constexpr spilling_piece piece_of_band(int register_rows, int shared_rows, int memory_rows, bool registers_first,
                                       int number) {
  const int in_memory = pieces_of_band(memory_rows) - 2;
  const int kept = register_rows + shared_rows;
  const int from_registers = registers_first ? number : in_memory + 1 - number;
  spilling_piece p{};
  p.last = number == in_memory + 1;
  if (from_registers > 1) {
    const int done = (registers_first ? number - 2 : number) * most_rows_of_piece;
    const int end = done + most_rows_of_piece < memory_rows ? done + most_rows_of_piece : memory_rows;
    const int before = registers_first ? kept : 0;
    p.part = spilling_part::memory;
    p.rows = p.taken = p.sent = {before + done, before + end};
    p.takes_ends = p.last;
    return p;
  }
  const int begin = registers_first ? 0 : memory_rows;
  const int cut = begin + (registers_first ? register_rows : shared_rows);
  const int end = begin + kept;
  const bool first = (from_registers == 0) == registers_first;
  p.part = from_registers == 0 ? spilling_part::registers : spilling_part::shared;
  p.rows = p.taken = p.sent = first ? spilling_rows{begin, cut} : spilling_rows{cut, end};
  p.takes_ends = p.last;
  if (in_memory == 0) return p;
  p.taken = first ? spilling_rows{begin, end} : spilling_rows{end, end};
  p.sent = first ? spilling_rows{begin, begin} : spilling_rows{begin, end};
  p.takes_ends = first && !registers_first;
  return p;
}

// dirichlet_first: the tile's first row is Dirichlet; so dirichlet_last. each_packet: elements that a packet carries.
constexpr spilling_place place_of_band(const spilling_bands& b, int band, int rows, bool dirichlet_first,
                                       bool dirichlet_last, int width, int each_packet) {
  const index_range own = b.rows_of(band, rows);
  spilling_place p;
  p.first_row = static_cast<int>(own.begin);
  p.rows = static_cast<int>(own.size());
  const int between = p.rows - 2 - b.register_rows;
  p.shared_rows = between < b.shared_rows ? between : b.shared_rows;
  p.memory_rows = between - p.shared_rows;
  p.first = b.band(band, width);
  p.last = p.first + 2 * spilling_pitch(width);
  p.shared = p.first + spilling_end_rows * spilling_pitch(width);
  p.memory = band * b.memory_rows * spilling_pitch(width);
  p.packet = p.first_row / each_packet + band;
  p.first_band = band == 0;
  p.last_band = band == b.count - 1;
  p.before = p.first_band ? b.ghost(false, width) : b.band(band - 1, width) + 2 * spilling_pitch(width);
  p.after = p.last_band ? b.ghost(true, width) : b.band(band + 1, width);
  p.dirichlet_first = p.first_band && dirichlet_first;
  p.dirichlet_last = p.last_band && dirichlet_last;
  // Half of those in each quarter of a multiprocessor, as far as they come in twos.
  p.registers_first = (band / 4 + band) % 2 == 0;
  return p;
}

// A band has its ends and a row in shared memory besides those in registers.
constexpr int least_spilling_band(int register_rows) { return register_rows + 3; }

// What computing all bands of so many rows takes, in cells of an array in shared memory that take as long.
constexpr double cells_of_spilling_bands(const spilling_bands& b, index_t rows) {
  constexpr int row_of_each_quarter = 360;
  return static_cast<double>(row_of_each_quarter * ((b.count + 3) / 4) * ceil_div(rows, b.count));
}

// The same with the transfers of rows in memory, half of which are hidden, or half of the computing if that is less.
// Within a third of what an H200 took, from 4096x2048 to 16384x16384.
constexpr double cells_of_spilling_step(const spilling_bands& b, index_t rows) {
  constexpr double row_in_memory = 250;
  const double computing = cells_of_spilling_bands(b, rows);
  const double transfers = row_in_memory * b.count * b.memory_rows;
  return computing > transfers ? computing + transfers / 2 : transfers + computing / 2;
}

}  // namespace starling::stencil
