// PageRank by power iteration on the devices of a machine. The meanings are networkx's: a vertex hands alpha of its
// rank to those that it points to, in proportion to its edges' weights; 1 - alpha of all rank goes by
// `personalization`; the rank of vertices without edges by `dangling`. The scaled ranks are a region, which every PE
// has whole.
//
//   pagerank::solver<float> s(m, edges_in.view(), out_weight);
//   const pagerank::result r = s.solve(ranks, {.tolerance = 1e-6});
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sparse/csr.hpp"
#include "sparse/region_rows.hpp"
#include "sparse/vertex_order.hpp"

namespace starling::pagerank {

struct solve_options {
  double alpha = 0.85;
  double tolerance = 1e-6;  // converged when the changes of all ranks sum up to less
  index_t max_iterations = 100;
  bool fixed = false;  // do max_iterations, whatever the change is
};

struct result {
  bool converged = false;
  index_t iterations = 0;
  double change = 0;                                         // of the last iteration, summed over vertices
  sparse::storage storage = sparse::storage::automatic;      // the one chosen
  sparse::vertex_order order = sparse::vertex_order::given;  // the one chosen
  sparse::iteration_report report;                           // history: the changes
};

// Where a solve is. Returning false ends it.
struct progress {
  index_t iterations;
  double change;
};
using watcher = std::function<bool(const progress&)>;

template <class T>
class solver {
 public:
  // Row i of `edges_in` has the vertices that point to i, with the edges' weights; without values all are 1.
  // `out_weight`: of each vertex, the sum of its edges' weights. Throws argument_error for options, memory_error when
  // it does not fit. `order`: how vertices are numbered on the devices; results are in the caller's order.
  solver(const machine& m, const sparse::csr_view<T>& edges_in, const T* out_weight,
         const sparse::iteration_options& options = {}, sparse::vertex_order order = sparse::vertex_order::automatic);
  // The same of a graph that is ordered for as many PEs, which several solvers can have.
  solver(const machine& m, std::shared_ptr<const sparse::ordered_graph<T>> edges_in, const T* out_weight,
         const sparse::iteration_options& options = {});
  ~solver();
  solver(solver&&) noexcept;
  solver& operator=(solver&&) noexcept;

  // `ranks`: the start, then the result; they sum up to 1. `personalization` and `dangling` sum up to 1; null: the same
  // for every vertex, and as personalization. `watch` is called now and then.
  result solve(T* ranks, const T* personalization, const T* dangling, const solve_options& options = {},
               const watcher& watch = {});

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace starling::pagerank
