// Edges between vertices of the same tile. A block follows paths along them for many hops between two rounds, in which
// all blocks meet: on road networks, whose paths are long and whose edges are short, most of a path.
//
// Distances only fall, and those of other tiles stay as they were at the round's start, so every value on the way is
// the length of a path. A round in which nothing falls is the last, with or without.
#pragma once

#include <limits>
#include <vector>

#include <cuda/atomic>
#include <cuda/std/bit>

#include "sparse/combination.hpp"
#include "sparse/csr.hpp"
#include "sparse/loaded_rows.hpp"
#include "starling/device/block.hpp"
#include "starling/machine/machine.hpp"
#include "starling/region/tile.hpp"

namespace starling::sssp {

inline constexpr int group_vertices = 32;  // of a tile, side by side: a warp's work on a GPU

// The edges into a group: entry e of vertex i is at group_vertices (first + e) + i. Shorter rows are filled up with
// edges of infinite length.
struct vertex_group {
  static constexpr int most_sources = 8;
  static constexpr std::uint16_t many = 0xffff;

  std::uint32_t first = 0;
  std::uint16_t width = 0;
  std::uint16_t sources = 0;  // groups that its edges come from; many: not kept
  std::uint16_t source[most_sources] = {};
};

struct tile_groups {
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // 0: edges of this tile are not kept
};

// Threads of a block read what others lower, and may get the value before.
template <class W>
STARLING_HD auto block_word(W& w) {
  return cuda::atomic_ref<W, cuda::thread_scope_block>(w);
}

// The distances of a tile in a block's shared memory, while it follows paths.
template <class T>
struct block_distances {
  T* distance = nullptr;
  int* lowered = nullptr;  // of each group the last sweep in which one of its distances fell; 0: before, -1: none

  STARLING_HD block_distances(block& b, index_t most_vertices) {
    if (most_vertices == 0) return;
    distance = b.scratch<T>(most_vertices);
    lowered = b.scratch<int>(most_vertices / group_vertices);
  }

  // By one thread for a vertex, before the first sweep.
  STARLING_HD void lower(index_t vertex, T to) const {
    if (!(to < distance[vertex])) return;
    distance[vertex] = to;
    block_word(lowered[vertex / group_vertices]).store(0, cuda::memory_order_relaxed);
  }
};

template <class T>
class inner_edge_tables {
 public:
  sym<const tile_groups> tiles;
  sym<const vertex_group> groups;
  sym<const std::uint16_t> source;  // vertices, numbered within the tile
  sym<const T> length;
  sym<int> fallen;            // [groups] as `lowered`, from one round to the next
  index_t most_vertices = 0;  // of a tile whose edges are kept; 0: of none
  int most_sweeps = 0;

  STARLING_HD bool kept(const block& b, int tile) const {
    return most_vertices > 0 && tiles.on(b.pe())[tile].count > 0;
  }

  // Bytes of scratch memory that follow() works in.
  static std::size_t scratch_bytes(index_t most_vertices) {
    const index_t groups = ceil_div(most_vertices, group_vertices);
    return static_cast<std::size_t>(most_vertices) * sizeof(T) + static_cast<std::size_t>(groups) * sizeof(int) + 32;
  }

  // The tile's distances as all see them. By all threads of the block, which see what it gives.
  STARLING_HD void begin(const block& b, const tile& t, const epoch_view<T>& old, const block_distances<T>& d) const {
    const tile_groups of = tiles.on(b.pe())[t.number];
    b.for_each(index_t{of.count}, [&](index_t g) { d.lowered[g] = fallen.on(b.pe())[of.first + g]; });
    const auto load = [&](index_t i) {
      return i < t.range.size() ? old(t.range.begin + i) : std::numeric_limits<T>::infinity();
    };
    sparse::each_loaded<8>(b, {0, index_t{of.count} * group_vertices}, load,
                           [&](index_t i, T v) { d.distance[i] = v; });
    b.sync();
  }

  // Lowers distances until none falls, or for most_sweeps sweeps. By all threads of the block, which see it all before
  // and afterwards.
  STARLING_HD void follow(const block& b, int tile, const block_distances<T>& d) const {
    const tile_groups of = tiles.on(b.pe())[tile];
    const vertex_group* group = groups.on(b.pe()) + of.first;
    const warp w = b.warp();
    for (int sweep = 1; sweep <= most_sweeps; ++sweep) {
      bool some = false;
      // Neighbouring groups to different warps: paths have a front.
      for (int base = w.rank(); base < static_cast<int>(of.count); base += w.count() * w.members()) {
        const int mine = base + w.count() * w.member();
        const bool due = mine < static_cast<int>(of.count) && is_due(group[mine], d.lowered, sweep);
        const auto of_lane = [&](unsigned lanes) { return base + w.count() * cuda::std::countr_zero(lanes); };
        for (unsigned left = w.which(due); left != 0;) {
          const int one = of_lane(left);
          left &= left - 1;
          const int other = left != 0 ? of_lane(left) : one;
          left &= left - 1;
          const groups_at_work at{group, {one, other}};
          if (lower(w, b.pe(), at, d, sweep)) some = true;
        }
      }
      if (!b.any(some)) break;
    }
    b.for_each(index_t{of.count},
               [&](index_t g) { fallen.on(b.pe())[of.first + g] = d.lowered[g] == most_sweeps ? 0 : -1; });
  }

 private:
  // Whether a distance that its edges come from may have fallen since it was last looked at, in the sweep before.
  STARLING_HD static bool is_due(const vertex_group& g, int* lowered, int sweep) {
    if (g.sources == vertex_group::many) return true;
    bool due = false;
    for (int i = 0; i < g.sources; ++i)
      due = due || block_word(lowered[g.source[i]]).load(cuda::memory_order_relaxed) >= sweep - 1;
    return due;
  }

  // Two groups, or the same twice: their loads are in flight together.
  static constexpr int at_once = 2;
  struct groups_at_work {
    const vertex_group* all;
    int number[at_once];
  };

  // By a warp: whether a distance of these groups has fallen.
  STARLING_HD bool lower(const warp& w, int pe, const groups_at_work& at, const block_distances<T>& d,
                         int sweep) const {
    bool fell[at_once] = {};
    for (int i = w.member(); i < group_vertices; i += w.members()) {
      T was[at_once], is[at_once];
      unrolled<at_once>([&](auto k) {
        was[k] = is[k] = block_word(d.distance[at.number[k] * group_vertices + i]).load(cuda::memory_order_relaxed);
      });
      least(pe, at, i, d.distance, is);
      unrolled<at_once>([&](auto k) {
        if (!(is[k] < was[k])) return;
        block_word(d.distance[at.number[k] * group_vertices + i]).store(is[k], cuda::memory_order_relaxed);
        fell[k] = true;
      });
    }
    bool some = false;
    unrolled<at_once>([&](auto k) {
      if (w.which(fell[k]) == 0) return;
      some = true;
      if (w.member() == 0) block_word(d.lowered[at.number[k]]).store(sweep, cuda::memory_order_relaxed);
    });
    return some;
  }

  // Over the edges into vertex i of each group; one without edges is never due. All loads of edges come before the
  // first of a distance, which waits.
  STARLING_HD void least(int pe, const groups_at_work& at, int i, T* distance, T (&is)[at_once]) const {
    constexpr int edges = 4;
    const std::uint16_t* from = source.on(pe);
    const T* long_as = length.on(pe);
    int width = 0;
    int last[at_once];
    std::size_t first[at_once];
    unrolled<at_once>([&](auto k) {
      const vertex_group& g = at.all[at.number[k]];
      first[k] = std::size_t{g.first} * group_vertices + static_cast<std::size_t>(i);
      last[k] = g.width - 1;
      width = g.width > width ? g.width : width;
    });
    for (int e = 0; e < width; e += edges) {
      std::uint16_t vertex[at_once][edges];
      T edge[at_once][edges];
      unrolled<at_once>([&](auto k) {
        unrolled<edges>([&](auto n) {
          const int place = e + n < last[k] ? e + n : last[k];
          const std::size_t entry = first[k] + static_cast<std::size_t>(place) * group_vertices;
          vertex[k][n] = from[entry];
          edge[k][n] = long_as[entry];
        });
      });
      unrolled<at_once>([&](auto k) {
        unrolled<edges>([&](auto n) {
          const T there = block_word(distance[vertex[k][n]]).load(cuda::memory_order_relaxed);
          is[k] = sparse::min_plus::join(is[k], sparse::min_plus::entry(edge[k][n], there));
        });
      });
    }
  }
};

// Whether a block can follow the paths in a tile of vertices: their distances fit into its shared memory, and the edges
// into any of them can be counted in 16 bits.
template <class T>
bool may_follow(const sparse::csr_view<T>& edges_in, index_range tile);

// How many tiles a PE needs for their paths to be worth following: as few as keep its multiprocessors at work. 0: most
// edges lead to vertices far away, or there are many to a vertex, so that rounds are few or long anyway.
template <class T>
int tiles_to_follow(const machine& m, const sparse::csr_view<T>& edges_in);

template <class T>
class inner_edges {
 public:
  // `vertices`: of each tile of each PE, by their numbers in `edges_in`; nothing is kept of PEs without tiles.
  inner_edges(machine& m, const sparse::csr_view<T>& edges_in, const std::vector<std::vector<index_range>>& vertices,
              int most_sweeps);

  // Before the first round from a source: all edges are to be looked at.
  void start(machine& m);
  inner_edge_tables<T> tables() const;
  std::size_t scratch_bytes() const;

 private:
  symmetric_array<tile_groups> tiles_;
  symmetric_array<vertex_group> groups_;
  symmetric_array<std::uint16_t> source_;
  symmetric_array<T> length_;
  symmetric_array<int> fallen_;
  index_t most_vertices_ = 0;
  int most_sweeps_;
};

}  // namespace starling::sssp
