// Shortest paths from one vertex, by Bellman and Ford's rounds on the devices of a machine: each vertex takes the least
// of its neighbours' distances and the edges from them, until no distance changes. Distances are a region, which every
// PE has whole. With integers as weights, as long as sums are exact in T, the distances are exact.
//
//   sssp::solver<double> s(m, edges_in.view());
//   const sssp::result r = s.solve(source, distances);
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sparse/csr.hpp"
#include "sparse/region_rows.hpp"

namespace starling::sssp {

struct result {
  bool complete = false;                                 // false: a watcher has ended it
  index_t rounds = 0;                                    // that changed something
  sparse::storage storage = sparse::storage::automatic;  // the one chosen
  sparse::iteration_report report;                       // history: how many vertices have a new distance
};

// After so many rounds, in the last of which so many distances changed. Returning false ends it.
using watcher = std::function<bool(index_t rounds, double changed)>;

template <class T>
class solver {
 public:
  // Row i of `edges_in` has the vertices with an edge to i, and the edges' weights: not negative, not NaN (the caller's
  // to check); without values all are 1. Throws argument_error for options, memory_error when it does not fit.
  // `sweeps`: where edges are few and lead to vertices near by, as in road networks, a tile follows paths along its own
  // edges for at most so many hops in a round, in an order of its own: on GPUs the number of rounds may differ between
  // two runs, distances do not. 0: every round is one hop.
  solver(const machine& m, const sparse::csr_view<T>& edges_in, const sparse::iteration_options& options = {},
         int sweeps = most_sweeps);
  static constexpr int most_sweeps = 8;

  ~solver();
  solver(solver&&) noexcept;
  solver& operator=(solver&&) noexcept;

  // `distances`: of each vertex, infinity where no path leads. Throws range_error for a source that is no vertex.
  result solve(index_t source, T* distances, const watcher& watch = {});

  // The vertex before each on a shortest path from `source`; `nobody` where there is none. On the host.
  static constexpr std::int32_t nobody = -9999;  // as in SciPy
  static std::vector<std::int32_t> predecessors(const sparse::csr_view<T>& edges_in, index_t source,
                                                const T* distances);

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace starling::sssp
