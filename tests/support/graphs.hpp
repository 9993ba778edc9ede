// Random graphs and matrices for the solvers that iterate over regions.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "sparse/csr.hpp"
#include "support/random.hpp"

namespace starling::test {

// Rows are the heads of edges, columns their tails. With self loops; some vertices have no edges at all, one has very
// many. Weights are whole numbers from 1 to `most_weight`.
template <class T>
sparse::csr<T> random_edges_in(random& r, index_t vertices, index_t edges, int most_weight) {
  std::vector<std::set<std::int32_t>> tails(static_cast<std::size_t>(vertices));
  const auto any = [&] { return static_cast<index_t>(r.below(static_cast<std::uint64_t>(vertices))); };
  for (index_t e = 0; e < edges; ++e) {
    const index_t head = r.below(4) == 0 ? vertices / 2 : any();
    tails[static_cast<std::size_t>(head)].insert(static_cast<std::int32_t>(any() / 2 * 2));
  }
  sparse::csr<T> a;
  a.columns = vertices;
  for (const auto& row : tails) {
    for (const std::int32_t tail : row) {
      a.column.push_back(tail);
      a.value.push_back(static_cast<T>(1 + r.below(static_cast<std::uint64_t>(most_weight))));
    }
    a.row_start.push_back(static_cast<index_t>(a.column.size()));
  }
  return a;
}

// For each vertex, what its edges out weigh together.
template <class T>
std::vector<T> weights_out(const sparse::csr<T>& edges_in, bool weighted) {
  std::vector<T> out(static_cast<std::size_t>(edges_in.rows()), T{0});
  for (std::size_t e = 0; e < edges_in.column.size(); ++e)
    out[static_cast<std::size_t>(edges_in.column[e])] += weighted ? edges_in.value[e] : T{1};
  return out;
}

}  // namespace starling::test
