// The numbers that a graph's vertices have on a machine. A product with the graph reads the vector at the columns of
// its entries; where neighbouring numbers have nothing in common, each read is a line of its own. With the vertices
// that most edges lead from side by side, most reads meet few lines, which stay in the caches nearest to the
// processors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sparse/csr.hpp"

namespace starling::sparse {

enum class vertex_order {
  automatic,  // by degree where that makes stretches of entries read clearly fewer lines of a large vector, else given
  given,      // the caller's
  by_degree,  // those with the most edges out first, equals in the caller's order; distributed round-robin over the PEs
};

const char* name(vertex_order o);
// Throws argument_error with the list for a word that is none.
vertex_order vertex_order_named(const std::string& text);

// A graph in one of these orders. PEs take rows in the order of their numbers. With those of the largest degree first,
// the first PE would have few rows of many edges and the last one nearly all rows: most of the vector would be its to
// send. So by degree each PE's numbers go to every n-th vertex of the order: all have their share of both. Row i of
// `edges_in` has the vertices with edges to i, ascending.
template <class T>
class ordered_graph {
 public:
  // For so many PEs. Keeps what it is given if the order is the caller's, so that must live as long.
  ordered_graph(const csr_view<T>& edges_in, vertex_order wanted, int n_pes);

  const csr_view<T>& view() const { return view_; }
  // The one chosen.
  vertex_order order() const { return vertex_.empty() ? vertex_order::given : vertex_order::by_degree; }

  // A value for each vertex, from the caller's order to this one and back.
  std::vector<T> ordered(const T* of_caller) const;
  void restore(const T* ordered, T* of_caller) const;

 private:
  // `number`: the new one of each of the caller's vertices.
  void renumber(const csr_view<T>& edges_in, const std::vector<std::int32_t>& number);

  std::vector<std::int32_t> vertex_;  // [vertices] the caller's number of each; empty: its own
  std::vector<index_t> row_start_;
  std::vector<std::int32_t> column_;
  std::vector<T> value_;
  csr_view<T> view_;
};

}  // namespace starling::sparse
