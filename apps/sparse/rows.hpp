// The rows of a matrix as kernels see them: what a PE holds, and what each block of it does. Plain data.
//
// A PE numbers the columns that its rows touch: first those of PEs before it (the lower halo), then its own, then those
// of PEs after it (the upper halo), each in the order of the whole matrix. So a band stays a band, and short offsets
// do.
#pragma once

#include <cstdint>

#include "sparse/options.hpp"
#include "starling/device/program_state.hpp"

namespace starling::sparse {

inline constexpr int slice_rows = 32;

// 32 rows side by side (with 3 x 3 blocks: 32 rows of blocks), padded to the longest. Entry k of row i is at
// start + 32 k + i; its column is `base` plus the stored offset.
struct slice {
  index_t start = 0;             // in entries (blocks)
  std::uint32_t width_halo = 0;  // entries of a row; the highest bit: some column is of the halo
  std::int32_t base = 0;

  static constexpr std::uint32_t halo_bit = std::uint32_t{1} << 31;
  constexpr int width() const { return static_cast<int>(width_halo & ~halo_bit); }
  constexpr bool reads_halo() const { return (width_halo & halo_bit) != 0; }
};

// Compressed rows: consecutive rows with at most `most_entries` entries together, or a piece of a longer row. What a
// warp does at once.
struct alignas(16) row_block {
  static constexpr int most_entries = 256;
  static constexpr int most_rows = 256;

  index_t start = 0;           // in entries
  std::int32_t first_row = 0;  // of the PE; of a piece: its number among the PE's pieces
  std::uint16_t entries = 0;
  std::uint16_t rows_halo = 0;  // rows, 0 of a piece; the highest bit: some column is of the halo

  static constexpr std::uint16_t halo_bit = 1 << 15;
  constexpr int rows() const { return rows_halo & ~halo_bit; }
  constexpr bool reads_halo() const { return (rows_halo & halo_bit) != 0; }
};

// A row in pieces.
struct long_row {
  std::int32_t row = 0;  // of the PE
  std::int32_t first_piece = 0;
  std::int32_t pieces = 0;
};

// A value that another PE needs.
struct send_entry {
  std::int32_t row;           // of this PE
  std::int32_t pe;            // who needs it
  std::int32_t column;        // there
  std::int32_t receive_slot;  // there: place among the values that come from other PEs
};

// What one PE has. Its columns are numbered in pieces that begin at multiples of `column_unit`: the lower halo ends at
// such a place, own columns follow, then the upper halo.
struct rows_of_pe {
  static constexpr index_t column_unit = 12;  // whole packs of 4 rows, whole blocks of 3

  index_t first = 0;  // row of the whole matrix
  index_t rows = 0;
  index_t lower = 0;  // columns of the lower halo
  index_t upper = 0;

  constexpr index_t halo() const { return lower + upper; }
  constexpr index_t first_own() const { return round_up(lower, column_unit); }
  constexpr index_t first_upper() const { return first_own() + round_up(rows, column_unit); }
  constexpr index_t columns() const { return first_upper() + upper; }
  constexpr bool owns(index_t column) const { return column >= first_own() && column < first_upper(); }
  // Place of a halo column among the values that come from other PEs, and back.
  constexpr index_t receive_slot(index_t column) const {
    return column < first_own() ? column - (first_own() - lower) : column - first_upper() + lower;
  }
  constexpr index_t column_of_receive_slot(index_t receive_slot) const {
    return receive_slot < lower ? receive_slot + first_own() - lower : receive_slot - lower + first_upper();
  }
};

// What one block of a PE does in every product and every loop over vectors.
struct block_plan {
  index_t first_row = 0;
  index_t rows = 0;
  index_t first_part = 0;  // slices or row blocks
  index_t parts = 0;
  index_t first_send = 0;
  index_t sends = 0;
  std::int32_t first_peer = 0;  // blocks of this PE whose rows it reads
  std::int32_t peers = 0;
  index_t first_receive_slot = 0;  // values of other PEs that it takes out of their receive slots
  index_t receive_slots = 0;
  std::int32_t sender = any_pe;  // of all of them, or any_pe
  bool awaited = false;          // some block reads what this one takes, and waits for it
  // Blocks of this PE that take what it reads of other PEs; none, when it reads none or takes all of it itself.
  std::int32_t first_unpacking = 0;
  std::int32_t unpacking = 0;
  index_t first_long_row = 0;  // rows in pieces
  index_t long_rows = 0;
};

// The matrix on all PEs.
template <class T>
struct matrix_data {
  storage how = storage::sliced;
  bool short_offsets = false;    // 16 bits
  sym<rows_of_pe> own;           // [1]
  sym<T> value;                  // not set: all are ones
  sym<std::uint16_t> offset_16;  // one of the two
  sym<std::int32_t> offset_32;   // also the columns of compressed rows
  sym<slice> slices;
  sym<row_block> row_blocks;
  sym<std::uint16_t> row_in_block;  // [rows] where a row's entries begin in its row block
  sym<long_row> long_rows;
  sym<T> piece_sums;  // written in each product
  sym<send_entry> sends;
  sym<block_plan> plans;  // [blocks]
};

}  // namespace starling::sparse
