// PageRank, shortest paths and Jacobi's method under many schedules: every agent, whole vectors and halos.
#include <limits>

#include "jacobi/jacobi.hpp"
#include "pagerank/pagerank.hpp"
#include "sssp/sssp.hpp"
#include "support/checked.hpp"
#include "support/graphs.hpp"

namespace starling::test::shipped_iterations_tests {
namespace {

template <class F>
void with_each_way(const F& f) {
  for (const int pes : {1, 2, 3})
    for (const region_agent agent : region_agents)
      for (const bool halo_only : {false, true}) {
        CAPTURE(pes);
        CAPTURE(std::string(name(agent)));
        CAPTURE(halo_only);
        machine m = checked_machine(pes, 20);
        f(m, sparse::iteration_options{
                 .agent = agent, .chunk_bytes = 128, .tiles = 3, .blocks = 2, .halo_only = halo_only});
        CHECK(m.checked().accesses_seen);
        CHECK(m.checked().schedules >= 20);
      }
}

TEST_CASE("pagerank passes") {
  random r(71);
  INFO("STARLING_TEST_SEED=" << r.seed);
  const auto a = random_edges_in<double>(r, 70, 200, 5);
  const auto out = weights_out(a, true);
  with_each_way([&](machine& m, const sparse::iteration_options& o) {
    pagerank::solver<double> s(m, a.view(), out.data(), o);
    std::vector<double> ranks(70, 1.0 / 70);
    CHECK(s.solve(ranks.data(), nullptr, nullptr, {.max_iterations = 5, .fixed = true}).iterations == 5);
  });
}

TEST_CASE("shortest paths pass") {
  random r(72);
  INFO("STARLING_TEST_SEED=" << r.seed);
  const auto a = random_edges_in<float>(r, 60, 120, 9);
  with_each_way([&](machine& m, const sparse::iteration_options& o) {
    sssp::solver<float> s(m, a.view(), o);
    std::vector<float> distances(60, -1);
    CHECK(s.solve(2, distances.data()).complete);
    CHECK(distances[2] == 0);
  });
}

TEST_CASE("shortest paths pass where tiles are skipped") {
  constexpr index_t n = 96;
  sparse::csr<float> a;  // a way from 0 on, on which the last few are reached
  a.columns = n;
  for (index_t i = 0; i < n; ++i) {
    if (i > 0) {
      a.column.push_back(static_cast<std::int32_t>(i - 1));
      a.value.push_back(1);
    }
    a.row_start.push_back(static_cast<index_t>(a.column.size()));
  }
  with_each_way([&](machine& m, const sparse::iteration_options& o) {
    sssp::solver<float> s(m, a.view(), o, 0);
    std::vector<float> distances(n, -1);
    const sssp::result got = s.solve(n - 8, distances.data());
    CHECK(got.rounds == 7);
    CHECK(distances[n - 1] == 7);
    if (m.size() > 1) CHECK(got.report.tiles_skipped > 0);
  });
}

TEST_CASE("Jacobi's method passes, by rows and by diagonals") {
  constexpr index_t n = 70;
  const std::vector<double> ones(n, 1.0);
  const std::vector<double> diagonal(n, 4.0);
  sparse::csr<double> rows;
  rows.columns = n;
  for (index_t i = 0; i < n; ++i) {
    for (const index_t j : {i - 1, i + 1}) {
      if (j < 0 || j >= n) continue;
      rows.column.push_back(static_cast<std::int32_t>(j));
      rows.value.push_back(1.0);
    }
    rows.row_start.push_back(static_cast<index_t>(rows.column.size()));
  }
  with_each_way([&](machine& m, const sparse::iteration_options& o) {
    std::vector<double> x(n, 0.0);
    jacobi::solver<double> by_rows(m, rows.view(), diagonal.data(), o);
    CHECK(by_rows.solve(ones.data(), x.data(), {.max_iterations = 4, .fixed = true}).iterations == 4);
    const auto first = x;
    x.assign(n, 0.0);
    jacobi::solver<double> by_diagonals(m, {n, {-1, 1}, {ones.data(), ones.data()}}, diagonal.data(), o);
    CHECK(by_diagonals.solve(ones.data(), x.data(), {.max_iterations = 4, .fixed = true}).iterations == 4);
    CHECK(x == first);
  });
}

}  // namespace
}  // namespace starling::test::shipped_iterations_tests
