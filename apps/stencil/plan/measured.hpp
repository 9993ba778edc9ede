// The constants that plans go by: measured on H200, but for those of virtual devices. The costs of steps are also
// measured where a domain runs: `starling tune` writes them into the user's cache (cost_file), by the names of
// step_costs; bench/cpu_free_stencil/write_costs.py puts the numbers of its file into measured.cpp as the built-in
// ones. All others are fitted to runs on H200, of which bench/cpu_free_stencil/results has those that tables show;
// tests/apps/stencil_recorded_costs.cpp says how far the model is from each of these.
#pragma once

#include "starling/base/index.hpp"
#include "starling/machine/machine.hpp"

namespace starling::stencil::measured {

// ---- variants (cost_model) ----

// Between what the L2 cache has of both arrays and what it does not, a step takes a bit of both.
inline constexpr double bytes_in_cache = 40e6;
inline constexpr double bytes_in_memory = 64e6;
// In three dimensions a cell has two neighbours more, which come from the cache.
inline constexpr double cached_cell_in_three_dimensions = 1.6;
// Cells in arrays in shared memory, against those in registers.
inline constexpr double in_place_cell = 1.3;
inline constexpr double double_buffered_cell = 1.9;
// The barriers of a step of tiles that exchange less often, in steps without work.
inline constexpr double barriers_of_tile_step = 0.1;
// A variant is taken before cpu_free, and another device is worth it, where a step takes so much of the time.
inline constexpr double clearly_cheaper_variant = 0.95;
inline constexpr double clearly_cheaper_devices = 0.95;

// ---- tiles (tile_choice), in cells that a block computes in the time ----

// The work for one cell of an edge: it is computed twice, packed and unpacked.
constexpr double cells_per_edge_cell(machine_kind kind) { return kind == machine_kind::host ? 10 : 4; }
inline constexpr double exchange_of_virtual_tile = 50'000;
inline constexpr double exchange_of_tile = 6'000;
inline constexpr double step_of_tile = 1'000;
// The packets of a block where tiles exchange several layers, on GPUs. Nearly all threads have one, or some several.
// Fitted to runs that no result file holds; results/tiles has what the depths that it chooses took later.
constexpr double packets_of_tile(double packets) {
  constexpr double many = 480;
  if (packets < many) return 26 * packets;
  return 45 * packets < 30'000 ? 30'000 : 45 * packets;
}
// Eight lanes load 128 bytes at once: where that is several short rows, some lie in the same banks.
inline constexpr double bank_conflicts_of_short_rows = 1.3;
// Tiles that take more of shared memory than this as two arrays are in one.
inline constexpr double most_double_buffered = 0.9;
inline constexpr index_t fewest_cells_of_tile = 512;
// A depth is taken before 1 where a step takes so much of the time: where less was expected, steps took longer.
inline constexpr double clearly_cheaper_depth = 0.8;

// ---- passes of several steps (temporal_choice) ----

// A strip with Dirichlet columns is as much more work.
inline constexpr double strip_with_dirichlet_columns = 1.2;

// ---- single steps over cells in memory (launch_shape, interior_partition) ----

// Small blocks meet sooner, large ones keep more of their rows in the L1 cache.
constexpr int threads_of_step(bool in_three_dimensions, index_t cells) {
  if (in_three_dimensions) return cells < 10'000'000 ? 128 : 256;
  return cells < 200'000 ? 128 : cells < 1'500'000 ? 256 : 512;
}
inline constexpr index_t cells_of_thread_at_once = 4;
// A block does a round of a face, two cells a thread with the wait for the neighbour, in the time of about ten times as
// many cells of the interior.
inline constexpr double boundary_cell = 10;
// So many of the blocks do an interior about as fast as all where the L2 cache has most of it.
inline constexpr double blocks_that_saturate_cache = 0.75;
// Blocks are for the boundary alone where that is clearly faster; so few of them, where it is about as fast.
inline constexpr double clearly_faster_boundary = 0.93;
inline constexpr double as_fast_boundary = 1.02;
inline constexpr int blocks_for_each_few = 50;
// Bytes of an array from which on tiles are scheduled dynamically, beside an L2 cache of 50 MB.
constexpr index_t bytes_of_dynamic_tiles(bool in_three_dimensions) {
  return in_three_dimensions ? 200'000'000 : 60'000'000;
}
// Bytes up to which a face of a PE travels as packets. To virtual devices a packet costs as much as a long message.
constexpr index_t bytes_as_packets(machine_kind kind) { return kind == machine_kind::host ? 0 : 262'144; }

}  // namespace starling::stencil::measured
