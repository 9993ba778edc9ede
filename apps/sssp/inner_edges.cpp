#include "sssp/inner_edges.hpp"

#include <algorithm>
#include <limits>

#include "sparse/on_pes.hpp"

namespace starling::sssp {
namespace {

constexpr index_t most_edges_of_a_vertex = 8;  // on average
constexpr int tiles_of_a_multiprocessor = 2;
constexpr index_t least_vertices_of_a_tile = 1024;

// Distances of a tile have to fit into a block's shared memory, its vertices into the numbers of 16 bits.
template <class T>
constexpr index_t most_vertices_of_a_tile = std::min<index_t>(96 * 1024 / sizeof(T), 1 << 16);

// What one PE keeps.
template <class T>
struct kept_edges {
  std::vector<tile_groups> tiles;
  std::vector<vertex_group> groups;
  std::vector<std::uint16_t> source;
  std::vector<T> length;
};

template <class T>
void for_each_inner(const sparse::csr_view<T>& a, index_range of, index_t vertex, const auto& edge) {
  for (index_t e = a.row_start[vertex]; e < a.row_start[vertex + 1]; ++e) {
    const index_t from = a.column[e];
    if (from >= of.begin && from < of.end && from != vertex)
      edge(static_cast<std::uint16_t>(from - of.begin), a.value == nullptr ? T{1} : a.value[e]);
  }
}

void add_source(vertex_group& g, std::uint16_t group) {
  if (g.sources == vertex_group::many) return;
  std::uint16_t* end = g.source + g.sources;
  if (std::find(g.source, end, group) != end) return;
  if (g.sources == vertex_group::most_sources)
    g.sources = vertex_group::many;
  else
    g.source[g.sources++] = group;
}

template <class T>
void add_group(kept_edges<T>& kept, const sparse::csr_view<T>& a, index_range tile, index_range vertices) {
  vertex_group g;
  g.first = static_cast<std::uint32_t>(kept.source.size() / group_vertices);
  for (index_t v = vertices.begin; v < vertices.end; ++v) {
    std::uint16_t width = 0;
    for_each_inner(a, tile, v, [&](std::uint16_t from, T) {
      ++width;
      add_source(g, from / group_vertices);
    });
    g.width = std::max(g.width, width);
  }
  const std::size_t begin = kept.source.size();
  kept.source.resize(begin + std::size_t{g.width} * group_vertices, 0);
  kept.length.resize(kept.source.size(), std::numeric_limits<T>::infinity());
  for (index_t v = vertices.begin; v < vertices.end; ++v) {
    std::size_t at = begin + static_cast<std::size_t>(v - vertices.begin);
    for_each_inner(a, tile, v, [&](std::uint16_t from, T length) {
      kept.source[at] = from;
      kept.length[at] = length;
      at += group_vertices;
    });
  }
  kept.groups.push_back(g);
}

template <class T>
void add_tile(kept_edges<T>& kept, const sparse::csr_view<T>& a, index_range tile) {
  tile_groups of;
  of.first = static_cast<std::uint32_t>(kept.groups.size());
  if (may_follow(a, tile)) {
    for (index_t v = tile.begin; v < tile.end; v += group_vertices)
      add_group(kept, a, tile, {v, std::min(v + group_vertices, tile.end)});
  }
  of.count = static_cast<std::uint32_t>(kept.groups.size()) - of.first;
  kept.tiles.push_back(of);
}

}  // namespace

template <class T>
bool may_follow(const sparse::csr_view<T>& a, index_range tile) {
  if (tile.size() > most_vertices_of_a_tile<T>) return false;
  for (index_t v = tile.begin; v < tile.end; ++v)
    if (a.row_start[v + 1] - a.row_start[v] > std::numeric_limits<std::uint16_t>::max()) return false;
  return true;
}

template <class T>
int tiles_to_follow(const machine& m, const sparse::csr_view<T>& a) {
  if (a.nonzeros() > most_edges_of_a_vertex * a.rows) return 0;
  const index_t pes = m.size();
  const index_t multiprocessors = m.device(0).multiprocessors;
  const index_t share = multiprocessors > 0 ? ceil_div(a.rows, pes * multiprocessors * tiles_of_a_multiprocessor) : 0;
  const index_t vertices = std::clamp(share, least_vertices_of_a_tile, most_vertices_of_a_tile<T>);
  index_t inner = 0;
  for (index_t v = 0; v < a.rows; ++v)
    for (index_t e = a.row_start[v]; e < a.row_start[v + 1]; ++e) inner += a.column[e] / vertices == v / vertices;
  return 2 * inner < a.nonzeros() ? 0 : static_cast<int>(ceil_div(a.rows, pes * vertices));
}

template <class T>
inner_edges<T>::inner_edges(machine& m, const sparse::csr_view<T>& a,
                            const std::vector<std::vector<index_range>>& vertices, int most_sweeps)
    : most_sweeps_(most_sweeps) {
  std::vector<kept_edges<T>> all(vertices.size());
  for (std::size_t pe = 0; pe < vertices.size(); ++pe)
    for (const index_range& tile : vertices[pe]) {
      add_tile(all[pe], a, tile);
      if (all[pe].tiles.back().count > 0) most_vertices_ = std::max(most_vertices_, tile.size());
    }
  most_vertices_ = round_up(most_vertices_, index_t{group_vertices});
  tiles_ = sparse::on_pes(m, all, &kept_edges<T>::tiles);
  groups_ = sparse::on_pes(m, all, &kept_edges<T>::groups);
  source_ = sparse::on_pes(m, all, &kept_edges<T>::source);
  length_ = sparse::on_pes(m, all, &kept_edges<T>::length);
  fallen_ = m.allocate<int>(groups_.size());
}

template <class T>
void inner_edges<T>::start(machine& m) {
  for (int pe = 0; pe < m.size(); ++pe)
    m.fill(fallen_.on(pe), 0, static_cast<std::size_t>(fallen_.size()) * sizeof(int));
}

template <class T>
inner_edge_tables<T> inner_edges<T>::tables() const {
  return {sparse::table(tiles_),
          sparse::table(groups_),
          sparse::table(source_),
          sparse::table(length_),
          fallen_.data(),
          most_vertices_,
          most_sweeps_};
}

template <class T>
std::size_t inner_edges<T>::scratch_bytes() const {
  return most_vertices_ == 0 ? 0 : inner_edge_tables<T>::scratch_bytes(most_vertices_);
}

template bool may_follow(const sparse::csr_view<float>&, index_range);
template bool may_follow(const sparse::csr_view<double>&, index_range);
template int tiles_to_follow(const machine&, const sparse::csr_view<float>&);
template int tiles_to_follow(const machine&, const sparse::csr_view<double>&);
template class inner_edges<float>;
template class inner_edges<double>;

}  // namespace starling::sssp
