#include "sssp/entering_edges.hpp"

#include "sparse/on_pes.hpp"
#include "sssp/inner_edges.hpp"

namespace starling::sssp {
namespace {

// What one PE keeps.
template <class T>
struct kept_edges {
  std::vector<std::int32_t> begins{0};
  std::vector<entering_edge<T>> edges;
  std::vector<edge_from<T>> others;
};

template <class T>
void add_vertex(kept_edges<T>& kept, const sparse::csr_view<T>& a, index_range tile, index_t vertex) {
  bool some = false;
  for (index_t e = a.row_start[vertex]; e < a.row_start[vertex + 1]; ++e) {
    const index_t from = a.column[e];
    if (from >= tile.begin && from < tile.end) continue;
    const edge_from<T> edge{a.value == nullptr ? T{1} : a.value[e], static_cast<std::int32_t>(from)};
    if (some) {
      kept.others.push_back(edge);
      ++kept.edges.back().count;
    } else {
      kept.edges.push_back(
          {edge, static_cast<std::uint32_t>(kept.others.size()), 0, static_cast<std::uint16_t>(vertex - tile.begin)});
      some = true;
    }
  }
}

}  // namespace

template <class T>
entering_edges<T>::entering_edges(machine& m, const sparse::csr_view<T>& a,
                                  const std::vector<std::vector<index_range>>& vertices) {
  std::vector<kept_edges<T>> all(vertices.size());
  for (std::size_t pe = 0; pe < vertices.size(); ++pe)
    for (const index_range& tile : vertices[pe]) {
      if (may_follow(a, tile))
        for (index_t v = tile.begin; v < tile.end; ++v) add_vertex(all[pe], a, tile, v);
      all[pe].begins.push_back(static_cast<std::int32_t>(all[pe].edges.size()));
    }
  begins_ = sparse::on_pes(m, all, &kept_edges<T>::begins);
  edges_ = sparse::on_pes(m, all, &kept_edges<T>::edges);
  others_ = sparse::on_pes(m, all, &kept_edges<T>::others);
}

template <class T>
entering_edge_tables<T> entering_edges<T>::tables() const {
  return {sparse::table(begins_), sparse::table(edges_), sparse::table(others_)};
}

template class entering_edges<float>;
template class entering_edges<double>;

}  // namespace starling::sssp
