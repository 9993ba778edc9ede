#include "stencil/plan/tile_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "starling/base/error.hpp"
#include "stencil/plan/launch_shape.hpp"
#include "stencil/plan/measured.hpp"
#include "stencil/plan/spilling_choice.hpp"
#include "stencil/tiles/in_place_columns.hpp"
#include "stencil/tiles/resident_kernels.hpp"

namespace starling::stencil {
namespace {

constexpr int most_threads = resident_most_threads;

index_t cells(const index_t (&extent)[axes]) { return extent[0] * extent[1] * extent[2]; }

// Every tile has cells, and its neighbours need no others than its own.
bool possible(const geometry& g, const tiling& t) {
  for (int a = 0; a < axes; ++a) {
    if (smallest_extent(g, t, a) < (tiles_exchange(g, t, a) ? t.depth : 1)) return false;
  }
  return true;
}

// Groups of columns of a step in three dimensions that computes as much of the ghost zone as any.
index_t in_place_columns_of_tile(const geometry& g, const tiling& t, int width) {
  const auto ghost = [&](int a) { return tiles_exchange(g, t, a) ? index_t{t.depth - 1} : 0; };
  return in_place_columns_of(t.largest[1] + 2 * ghost(1), t.largest[2] + 2 * ghost(2), ghost(2), width);
}

// Bands of a step that computes as much of the ghost zone as any; none where rows are too long for a warp.
register_tile register_tile_of(const geometry& g, const tiling& t, int width, int most_warps) {
  const auto ghost = [&](int a) { return tiles_exchange(g, t, a) ? index_t{t.depth - 1} : 0; };
  if (g.active[0] || vectors_of_row(t.largest[2] + 2 * ghost(2), ghost(2), width) > band_vectors) return {};
  const index_t dirichlet = 2;  // at most, of rows that steps do not make
  const index_t fewest = smallest_extent(g, t, 1) - dirichlet;
  return register_tile_for(t.largest[1] + 2 * ghost(1), fewest, t.depth, most_warps);
}

// The cells of one array that all threads of a block go through for a tile: groups of columns fill whole warps, and
// segments of its layers are as long as the longest.
double cells_in_place(const geometry& g, const tiling& t, int width) {
  const index_t columns = round_up(in_place_columns_of_tile(g, t, width), 32);
  const index_t segments = std::clamp<index_t>(most_threads / columns, 1, most_in_place_segments);
  const index_t layers = t.largest[0] + (tiles_exchange(g, t, 0) ? t.depth - 1 : 0);
  const double conflicts = t.largest[2] < 8 * width ? measured::bank_conflicts_of_short_rows : 1;
  return conflicts * static_cast<double>(ceil_div(layers, segments) * width * in_place_rows * most_threads);
}

// What an exchange costs, in cells, of tiles with so many cells at their edges.
double exchange_cost(const geometry& g, machine_kind kind, std::size_t cell_bytes, const tiling& t, double edge_cells) {
  if (edge_cells == 0) return 0;
  if (kind == machine_kind::host) return measured::exchange_of_virtual_tile;
  const bool corners = !g.active[0] && tiles_exchange(g, t, 1) && tiles_exchange(g, t, 2);
  const double sent = t.depth * (edge_cells + (corners ? 4 * t.depth : 0));
  return measured::exchange_of_tile +
         (t.depth > 1 ? measured::packets_of_tile(sent * static_cast<double>(cell_bytes) / 8) : 0);
}

// What a step of the largest tile costs, in cells; infinite if the tile does not fit on chip. A cell at an edge is
// computed twice, packed and unpacked.
double cost(const geometry& g, const tile_limits& limits, std::size_t cell_bytes, const tiling& t) {
  const bool host = limits.kind == machine_kind::host;
  double kept = 1;
  double edges = 0;
  for (int a = 0; a < axes; ++a) {
    if (g.active[a]) kept *= static_cast<double>(t.largest[a] + 2 * t.depth);
    if (tiles_exchange(g, t, a)) edges += 2 * static_cast<double>(cells(t.largest)) / static_cast<double>(t.largest[a]);
  }
  const double exchange = exchange_cost(g, limits.kind, cell_bytes, t, edges);
  const double besides =
      measured::cells_per_edge_cell(limits.kind) * edges + (host ? 0 : measured::step_of_tile) + exchange / t.depth;
  const double room = static_cast<double>(limits.scratch_bytes) / static_cast<double>(cell_bytes);
  const int width = 16 / static_cast<int>(cell_bytes);
  tiling kept_so = t;
  if (!host && kept <= room) kept_so.registers = register_tile_of(g, t, width, most_threads / 32);
  if (kept_so.registers.used()) return cells_computed(g, kept_so) + besides;
  if (!host)
    if (const double spilling = cells_of_spilling(g, limits.scratch_bytes, cell_bytes, t); spilling > 0)
      return spilling + measured::step_of_tile + exchange;
  const double computed = cells_computed(g, t);
  const bool once = !host && g.active[0] && kept <= room && in_place_columns_of_tile(g, t, width) <= most_threads;
  if (!once && 2 * kept > room) return std::numeric_limits<double>::infinity();
  // Cells that do not fit twice are in one array.
  if (once && 2 * computed > measured::most_double_buffered * room)
    return std::max(computed, cells_in_place(g, t, width)) + besides;
  return computed + besides;
}

// Lays out the largest tile.
template <class T>
void lay_out(const geometry& g, tiling& t) {
  const index_t ghost = t.depth;
  const index_t rows = g.active[0] ? t.largest[1] + 2 * ghost : 1;
  const index_t layers = t.largest[g.active[0] ? 0 : 1] + 2 * ghost;
  // An odd number of elements, or of vectors: edges across rows do not all fall into one bank of shared memory. Vectors
  // lie at multiples of their size, so that the ghost zone before a row is at the end of the row before it.
  const index_t width = t.single_buffered ? cell_vector<T>::width : 1;
  const index_t pitch =
      t.registers.used() ? band_pitch * width : (ceil_div(t.largest[2] + 2 * ghost, width) | 1) * width;
  const index_t before = t.single_buffered ? round_up(ghost, width) : ghost;
  t.shared = {};
  t.shared.stride[1] = static_cast<int>(pitch);
  if (g.active[0]) t.shared.stride[0] = static_cast<int>(pitch * rows);
  t.shared.origin = static_cast<int>(ghost * pitch * rows + (g.active[0] ? ghost * pitch : 0) + before);
  // A thread may read a row and a vector more than there are.
  t.shared.elements = layers * pitch * rows + (t.single_buffered ? before + pitch : 0);
}

int natural_blocks(const geometry& g, const tile_limits& limits) {
  if (limits.kind == machine_kind::host) return std::min(2, limits.blocks);
  const index_t all = g.largest(0) * g.largest(1) * g.largest(2);
  return static_cast<int>(std::clamp<index_t>(ceil_div(all, measured::fewest_cells_of_tile), 1, limits.blocks));
}

// So many that a thread has eight cells, and one packet at most where that can be. In one array, all: layers are cut
// into as many segments as there are threads for.
int natural_threads(const tiling& t) {
  const index_t packets = std::min<index_t>(t.packets_per_block(), most_threads);
  if (t.spilling.used()) return 32 * t.spilling.count;
  if (t.registers.used()) return static_cast<int>(std::max<index_t>(32 * t.registers.count, round_up(packets, 32)));
  if (t.single_buffered) return most_threads;
  const index_t wanted = std::max(ceil_div(cells(t.largest), 8), packets);
  return static_cast<int>(std::clamp<index_t>(round_up(wanted, 32), 128, most_threads));
}

// How the cells of a tile are kept.
enum class kept_in { registers, spilling_bands, double_buffered, in_place };

// Whether the largest tile can be kept so, and what follows if it can.
template <class T>
bool fit(const geometry& g, const tile_limits& limits, const run_options& options, kept_in how, tile_choice& c) {
  tiling& t = c.grid;
  t.single_buffered = how != kept_in::double_buffered;
  const int most_warps = (options.threads > 0 ? options.threads : most_threads) / 32;
  if (how == kept_in::spilling_bands) {
    tiling spilling = t;
    if (!lay_out_spilling<T>(g, spilling, std::min(most_warps, most_spilling_bands), limits.scratch_bytes))
      return false;
    if (spilling.spilling.count < std::max(fewest_spilling_bands, options.threads / 32)) return false;
    t = spilling;
    c.threads = natural_threads(t);
    c.scratch_bytes = resident_scratch<T>(t, c.threads);
    return true;
  }
  t.registers = how == kept_in::registers ? register_tile_of(g, t, cell_vector<T>::width, most_warps) : register_tile{};
  if (how == kept_in::registers && !t.registers.used()) return false;
  c.threads = options.threads > 0 ? options.threads : natural_threads(t);
  if (how == kept_in::registers && t.depth == 1 && t.packets_per_block() > c.threads) return false;
  if (how == kept_in::in_place && in_place_columns_of_tile(g, t, cell_vector<T>::width) > c.threads) return false;
  lay_out<T>(g, t);
  c.scratch_bytes = resident_scratch<T>(t, limits.kind == machine_kind::host ? 1 : c.threads);
  return c.scratch_bytes <= limits.scratch_bytes;
}

// Everything that follows from a grid; nothing if its tiles do not fit.
template <class T>
std::optional<tile_choice> choice_for(const geometry& g, const tile_limits& limits, const run_options& options,
                                      const tiling& grid) {
  const bool gpu = limits.kind == machine_kind::cuda;
  const bool flat = !g.active[0];
  tile_choice c;
  c.grid = grid;
  number_packets<T>(g, c.grid);
  if ((gpu && flat && fit<T>(g, limits, options, kept_in::registers, c)) ||
      (gpu && flat && fit<T>(g, limits, options, kept_in::spilling_bands, c)) ||
      fit<T>(g, limits, options, kept_in::double_buffered, c) ||
      (gpu && !flat && fit<T>(g, limits, options, kept_in::in_place, c)))
    return c;
  return std::nullopt;
}

// Whether boxes can be divided into so many tiles at most that exchange so many layers, and the cheapest grid that
// fits.
struct grids {
  bool possible = false;
  std::optional<tile_choice> best;
  double cost = std::numeric_limits<double>::infinity();
};

template <class T>
grids grids_of(const geometry& g, const tile_limits& limits, const run_options& options, int depth, int blocks) {
  grids found;
  for (int z = 1; z <= (g.active[0] ? blocks : 1); ++z)
    for (int y = 1; y <= blocks / z; ++y)
      for (int x = 1; x <= blocks / z / y; ++x) {
        tiling t;
        t.tiles[0] = z;
        t.tiles[1] = y;
        t.tiles[2] = x;
        t.depth = depth;
        set_largest(g, t);
        if (!possible(g, t)) continue;
        found.possible = true;
        const double c = cost(g, limits, sizeof(T), t);
        if (c >= found.cost) continue;
        std::optional<tile_choice> fits = choice_for<T>(g, limits, options, t);
        if (!fits) continue;
        found.best = std::move(fits);
        found.cost = c;
      }
  return found;
}

// The depth that is cheapest among those that keep everything on chip; 1 if none does, or none is clearly cheaper.
template <class T>
int natural_depth(const geometry& g, const tile_limits& limits, const run_options& options, int blocks) {
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int depth = 1; depth <= most_depth; ++depth) {
    const grids found = grids_of<T>(g, limits, options, depth, blocks);
    if (!found.best || found.best->grid.memory_elements > 0 || found.cost >= least) continue;
    least = depth == 1 ? measured::clearly_cheaper_depth * found.cost : found.cost;
    best = depth;
  }
  return best;
}

void check(const tile_limits& given, const run_options& options) {
  expect<argument_error>(options.blocks >= 0, "stencil: blocks = ", options.blocks,
                         "; must be at least 1, or 0 to choose");
  expect<argument_error>(options.threads >= 0 && options.threads % 32 == 0 && options.threads <= most_threads,
                         "stencil: threads = ", options.threads, "; must be a multiple of 32 up to ", most_threads,
                         ", or 0 to choose");
  expect<launch_error>(options.blocks <= given.blocks, "stencil: blocks = ", options.blocks, " per PE, but only ",
                       given.blocks, " fit at once; ask for fewer, or 0 to choose");
}

tile_limits limits_asked_for(tile_limits limits, const run_options& options) {
  check(limits, options);
  if (options.shared_bytes > 0) limits.scratch_bytes = std::min(limits.scratch_bytes, options.shared_bytes);
  return limits;
}

}  // namespace

tile_limits limits_of(const machine& m) {
  const device_info& d = m.device(0);
  // One block has a multiprocessor of a GPU to itself, and so has the network card's, which is there for other hosts.
  bool cards = false;
  for (int pe = 1; pe < m.size(); ++pe) cards = cards || m.host_of(pe) != m.host_of(0);
  const int blocks = d.multiprocessors > 0 ? d.multiprocessors - (cards ? 1 : 0) : m.blocks_that_fit([](block&) {});
  return {m.kind(), blocks, d.scratch_bytes};
}

double cells_computed(const geometry& g, const tiling& t) {
  if (t.registers.used()) return cells_of_register_tile(t.registers);
  if (t.spilling.used()) return cells_of_spilling_bands(t.spilling, t.largest[1]);
  double computed = 1;
  for (int a = 0; a < axes; ++a)
    computed *= static_cast<double>(t.largest[a] + (tiles_exchange(g, t, a) ? t.depth - 1 : 0));
  return computed;
}

template <class T>
std::optional<tile_choice> choose_tiles(const geometry& g, const tile_limits& given, const run_options& options) {
  const tile_limits limits = limits_asked_for(given, options);
  const int blocks = options.blocks > 0 ? options.blocks : natural_blocks(g, limits);
  const int depth = options.depth > 0                  ? options.depth
                    : options.how == variant::temporal ? natural_depth<T>(g, limits, options, blocks)
                                                       : 1;
  grids found = grids_of<T>(g, limits, options, depth, blocks);
  expect<argument_error>(found.possible, "stencil: depth = ", depth,
                         " needs as many layers on every device along each axis that exchanges; ask for a smaller "
                         "depth, fewer devices or another split");
  return std::move(found.best);
}

template std::optional<tile_choice> choose_tiles<float>(const geometry&, const tile_limits&, const run_options&);
template std::optional<tile_choice> choose_tiles<double>(const geometry&, const tile_limits&, const run_options&);

}  // namespace starling::stencil
