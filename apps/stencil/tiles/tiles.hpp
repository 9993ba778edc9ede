// How the box of a PE is partitioned among blocks that keep their part, a tile, on chip: plain data and arithmetic
// that kernels and host share.
//
// Around its cells a tile has a ghost zone: `depth` layers of the neighbours' cells on each side. Tiles send each other
// what lies at their edges, as packets, once every `depth` steps; in the steps between, a tile computes the part of the
// ghost zone that is still known too, and one layer less of it in each step. All of a tile's packets of one exchange
// carry the same number, one more than those of the exchange before, and travel in slot number % 2 of the receiver's
// packet buffer.
//
// Why two slots: neighbours are mutual, and between taking and sending a block has a barrier. So a block that sends
// number m has taken m - 1 of every neighbour. That neighbour sent its m - 1 after it had taken all of its m - 2,
// which lay in the slot that m goes to. So nothing is overwritten before it was taken, and no other word is needed
// between blocks: no credit and no barrier. Numbers go on from run to run, and what a run left behind is overwritten
// without harm: nobody waits for its numbers any more.
#pragma once

#include "starling/device/packet.hpp"
#include "starling/device/symmetric.hpp"
#include "stencil/core/geometry.hpp"
#include "stencil/spilling_tiles/spilling_bands.hpp"

namespace starling::stencil {

inline constexpr int packet_slots = 2;

// Neighbours, diagonal ones too: (z, y, x) steps of -1, 0, 1. Only a depth above 1 needs the diagonal ones.
inline constexpr int directions = 27;

struct direction {
  int step[axes];

  STARLING_HD explicit constexpr direction(int number) : step{number / 9 - 1, number / 3 % 3 - 1, number % 3 - 1} {}
  constexpr int distance() const { return step[0] * step[0] + step[1] * step[1] + step[2] * step[2]; }
  // Packets run along this axis, so that few of them are half empty.
  constexpr int fast() const { return step[2] != 0 && step[1] == 0 ? 1 : 2; }
  // The third one is z.
  constexpr int middle() const { return fast() == 2 ? 1 : 2; }
};
constexpr int direction_number(int z, int y, int x) { return 9 * (z + 1) + 3 * (y + 1) + x + 1; }
constexpr int opposite_direction(int number) { return directions - 1 - number; }

// Where the cells of a tile are in an array with room for the ghost zone; cell (0, 0, 0) is at `origin`.
struct tile_layout {
  int stride[axes] = {0, 0, 1};
  int origin = 0;
  index_t elements = 0;  // of one such array

  constexpr int at(int z, int y, int x) const { return origin + z * stride[0] + y * stride[1] + x; }
};

// The tiles of every PE.
struct tiling {
  int tiles[axes] = {1, 1, 1};
  int depth = 1;
  bool single_buffered = false;  // in one array instead of two
  register_tile registers;       // used where a block keeps its cells in registers; then in one array too
  spilling_bands spilling;       // used where the register tile spills to shared memory and memory; likewise
  tile_layout shared;
  index_t memory_elements = 0;         // of one block, for what spilling register tiles have in memory
  int grain = 1;                       // cells of a row are partitioned among tiles in multiples of it
  index_t largest[axes] = {1, 1, 1};   // extents of a tile
  index_t start[directions + 1] = {};  // where what comes for a direction begins in a block's packet buffer

  // Of so many cells along an axis, those of the tile at a place.
  constexpr index_range cells_of(int axis, index_t cells, int at) const {
    const index_t each = axis == 2 ? grain : 1;
    const index_range part = share(ceil_div(cells, each), tiles[axis], at);
    return {each * part.begin, each * part.end < cells ? each * part.end : cells};
  }
  constexpr int arrays() const { return single_buffered ? 1 : 2; }
  constexpr int blocks() const { return tiles[0] * tiles[1] * tiles[2]; }
  // In packets.
  constexpr index_t packets_per_block() const { return start[directions]; }
  constexpr index_t packet_slot(index_t message) const {
    return message % packet_slots * blocks() * packets_per_block();
  }
};

// Whether tiles have neighbours along the axis.
constexpr bool tiles_exchange(const geometry& g, const tiling& t, int axis) {
  return g.active[axis] && (t.tiles[axis] > 1 || g.exchanges(axis));
}

// Cells that travel in a direction, along each axis.
constexpr index_t extent_sent(const direction& d, int axis, index_t tile_extent, int depth) {
  return d.step[axis] == 0 ? tile_extent : depth;
}

// Packets of so many cells.
constexpr index_t packets_sent(const direction& d, const tiling& t, index_t cells_each) {
  return extent_sent(d, 0, t.largest[0], t.depth) * extent_sent(d, d.middle(), t.largest[d.middle()], t.depth) *
         ceil_div(extent_sent(d, d.fast(), t.largest[d.fast()], t.depth), cells_each);
}

// Extents of the largest tile.
constexpr void set_largest(const geometry& g, tiling& t) {
  for (int a = 0; a < axes; ++a) t.largest[a] = t.cells_of(a, g.largest(a), 0).size();
}

// Of all PEs' tiles along an axis.
constexpr index_t smallest_extent(const geometry& g, const tiling& t, int axis) {
  return t.cells_of(axis, g.extent[axis] / g.parts[axis], t.tiles[axis] - 1).size();
}

// Partitions a block's packet buffer among directions.
template <class T>
constexpr void number_packets(const geometry& g, tiling& t) {
  const index_t cells_each = elements_per_packet<T>;
  for (int number = 0; number < directions; ++number) {
    const direction d(number);
    bool used = d.distance() == 1 || (d.distance() > 1 && t.depth > 1);
    for (int a = 0; a < axes; ++a) used = used && (d.step[a] == 0 || tiles_exchange(g, t, a));
    // Bands of spilling register tiles have a packet more for each side.
    const int more = d.step[2] != 0 ? t.spilling.count : 0;
    t.start[number + 1] = t.start[number] + (used ? packets_sent(d, t, cells_each) + more : 0);
  }
}

// One block's tile.
struct tile {
  int extent[axes];
  int updated_begin[axes];  // cells that are not Dirichlet
  int updated_end[axes];
  bool open[faces];     // has a neighbour on that side
  index_t first[axes];  // cell of the box

  // The cells that a step computes which leaves `reach` layers of the ghost zone known.
  STARLING_HD constexpr int begin(int axis, int reach) const { return open[2 * axis] ? -reach : updated_begin[axis]; }
  STARLING_HD constexpr int end(int axis, int reach) const {
    return open[2 * axis + 1] ? extent[axis] + reach : updated_end[axis];
  }
};

// A tile of a machine.
struct tile_place {
  int pe;
  int block;
};

constexpr void place_of_block(const tiling& t, int block, int (&at)[axes]) {
  at[0] = block / (t.tiles[1] * t.tiles[2]);
  at[1] = block / t.tiles[2] % t.tiles[1];
  at[2] = block % t.tiles[2];
}

constexpr tile tile_of(const geometry& g, const tiling& t, const box& own, int block) {
  int at[axes]{};
  place_of_block(t, block, at);
  tile mine{};
  for (int a = 0; a < axes; ++a) {
    const index_range cells = t.cells_of(a, own.extent[a], at[a]);
    mine.first[a] = cells.begin;
    mine.extent[a] = static_cast<int>(cells.size());
    const index_t begin = own.updated[a].begin > cells.begin ? own.updated[a].begin - cells.begin : 0;
    const index_t end = (own.updated[a].end < cells.end ? own.updated[a].end : cells.end) - cells.begin;
    mine.updated_begin[a] = static_cast<int>(begin);
    mine.updated_end[a] = static_cast<int>(end);
    const bool exchanges = tiles_exchange(g, t, a);
    mine.open[2 * a] = exchanges && (at[a] > 0 || own.neighbour[2 * a] != no_neighbour);
    mine.open[2 * a + 1] = exchanges && (at[a] < t.tiles[a] - 1 || own.neighbour[2 * a + 1] != no_neighbour);
  }
  return mine;
}

// The tile beside one in a direction; pe is no_neighbour where there is none.
constexpr tile_place beside(const geometry& g, const tiling& t, int pe, int block, const direction& d) {
  int where[axes] = {pe / (g.parts[1] * g.parts[2]), pe / g.parts[2] % g.parts[1], pe % g.parts[2]};
  int at[axes]{};
  place_of_block(t, block, at);
  for (int a = 0; a < axes; ++a) {
    if (d.step[a] == 0) continue;
    if (!tiles_exchange(g, t, a)) return {no_neighbour, 0};
    at[a] += d.step[a];
    if (at[a] >= 0 && at[a] < t.tiles[a]) continue;
    at[a] -= d.step[a] * t.tiles[a];
    where[a] += d.step[a];
    if (where[a] >= 0 && where[a] < g.parts[a]) continue;
    if (!g.periodic[a]) return {no_neighbour, 0};
    where[a] -= d.step[a] * g.parts[a];
  }
  return {(where[0] * g.parts[1] + where[1]) * g.parts[2] + where[2],
          (at[0] * t.tiles[1] + at[1]) * t.tiles[2] + at[2]};
}

}  // namespace starling::stencil
