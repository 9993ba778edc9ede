// Edges into a tile's vertices from vertices of other tiles: what a block reads of others' distances, where it follows
// the paths within its tile by itself.
#pragma once

#include <vector>

#include "sparse/combination.hpp"
#include "sparse/csr.hpp"
#include "sparse/loaded_rows.hpp"
#include "starling/machine/machine.hpp"
#include "starling/region/tile.hpp"

namespace starling::sssp {

template <class T>
struct edge_from {
  T length;
  std::int32_t vertex;  // of all
};

// The first edge into a vertex, and where the others are.
template <class T>
struct entering_edge {
  edge_from<T> first;
  std::uint32_t others = 0;
  std::uint16_t count = 0;   // of others
  std::uint16_t vertex = 0;  // of the tile
};

template <class T>
struct entering_edge_tables {
  sym<const std::int32_t> begins;  // [tiles + 1] where a tile's edges begin
  sym<const entering_edge<T>> edges;
  sym<const edge_from<T>> others;

  // lower(v, d): a path of length d leads to vertex v of the tile. Once for each vertex, by all threads of the block.
  template <class F>
  STARLING_HD void each(const block& b, int tile, const epoch_view<T>& old, const F& lower) const {
    struct loaded {
      entering_edge<T> edge;
      T from;
    };
    const entering_edge<T>* all = edges.on(b.pe());
    const index_range own{begins.on(b.pe())[tile], begins.on(b.pe())[tile + 1]};
    const auto load = [&](index_t i) { return loaded{all[i], old(all[i].first.vertex)}; };
    sparse::each_loaded<4>(b, own, load, [&](index_t, const loaded& of) {
      T least = sparse::min_plus::entry(of.edge.first.length, of.from);
      for (std::uint32_t e = of.edge.others; e < of.edge.others + of.edge.count; ++e) {
        const edge_from<T> other = others.on(b.pe())[e];
        least = sparse::min_plus::join(least, sparse::min_plus::entry(other.length, old(other.vertex)));
      }
      lower(of.edge.vertex, least);
    });
  }
};

template <class T>
class entering_edges {
 public:
  // `vertices`: of each tile of each PE, by their numbers in `edges_in`; nothing is kept of tiles that no block may
  // follow (may_follow).
  entering_edges(machine& m, const sparse::csr_view<T>& edges_in,
                 const std::vector<std::vector<index_range>>& vertices);

  entering_edge_tables<T> tables() const;

 private:
  symmetric_array<std::int32_t> begins_;
  symmetric_array<entering_edge<T>> edges_;
  symmetric_array<edge_from<T>> others_;
};

}  // namespace starling::sssp
