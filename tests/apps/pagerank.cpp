// PageRank against a loop in double: with and without weights, personalization, vertices without edges, every agent.
#include "pagerank/pagerank.hpp"

#include <cmath>
#include <numeric>

#include "support/failure.hpp"
#include "support/graphs.hpp"
#include "support/region_agents.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {

std::vector<double> by_loop(const sparse::csr<double>& a, const std::vector<double>& out, bool weighted, double alpha,
                            const std::vector<double>& personal, const std::vector<double>& dangling, int iterations) {
  const std::size_t n = out.size();
  std::vector<double> x(n, 1.0 / static_cast<double>(n));
  for (int k = 0; k < iterations; ++k) {
    double loose = 0;
    for (std::size_t i = 0; i < n; ++i) loose += out[i] == 0 ? x[i] : 0;
    std::vector<double> next(n);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (index_t e = a.row_start[i]; e < a.row_start[i + 1]; ++e) {
        const auto at = static_cast<std::size_t>(e);
        const auto tail = static_cast<std::size_t>(a.column[at]);
        sum += (weighted ? a.value[at] : 1.0) * x[tail] / out[tail];
      }
      next[i] = alpha * (sum + loose * dangling[i]) + (1 - alpha) * personal[i];
    }
    x = next;
  }
  return x;
}

std::vector<double> random_shares(random& r, std::size_t n) {
  std::vector<double> v(n);
  for (double& x : v) x = static_cast<double>(r.below(10));
  v[0] += 1;
  const double sum = std::accumulate(v.begin(), v.end(), 0.0);
  for (double& x : v) x /= sum;
  return v;
}

template <class T>
void check_ranks(const machine& m, random& r, index_t vertices, bool weighted, bool personalized,
                 const sparse::iteration_options& options) {
  const sparse::csr<double> a = random_edges_in<double>(r, vertices, 5 * vertices, 9);
  sparse::csr<T> as;
  as.columns = a.columns;
  as.row_start = a.row_start;
  as.column = a.column;
  as.value.assign(a.value.begin(), a.value.end());
  sparse::csr_view<T> view = as.view();
  if (!weighted) view.value = nullptr;
  const auto out = weights_out(a, weighted);
  const std::vector<T> out_as(out.begin(), out.end());
  const auto n = static_cast<std::size_t>(vertices);
  const std::vector<double> even(n, 1.0 / static_cast<double>(n));
  const std::vector<double> personal = personalized ? random_shares(r, n) : even;
  const std::vector<double> dangling = personalized ? random_shares(r, n) : even;
  const std::vector<T> personal_as(personal.begin(), personal.end());
  const std::vector<T> dangling_as(dangling.begin(), dangling.end());

  const auto order = static_cast<sparse::vertex_order>(r.below(3));
  CAPTURE(sparse::name(order));
  pagerank::solver<T> s(m, view, out_as.data(), options, order);
  constexpr int iterations = 21;
  for (int again = 0; again < 2; ++again) {
    std::vector<T> ranks(n, static_cast<T>(1.0 / static_cast<double>(n)));
    const pagerank::result got =
        s.solve(ranks.data(), personalized ? personal_as.data() : nullptr, personalized ? dangling_as.data() : nullptr,
                {.alpha = 0.9, .tolerance = 0, .max_iterations = iterations, .fixed = true});
    CHECK(got.iterations == iterations);
    CHECK_FALSE(got.converged);
    const auto expected = by_loop(a, out, weighted, 0.9, personal, dangling, iterations);
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i)
      worst = std::fmax(worst, std::fabs(static_cast<double>(ranks[i]) - expected[i]));
    CHECK(worst < (sizeof(T) == 4 ? 1e-5 : 1e-13));
  }
}

TEST_CASE("ranks are those of a loop") {
  random r(41);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const index_t vertices : {1, 33, 700})
      for (const bool weighted : {false, true})
        for (const region_agent agent : agents_of(*m, false)) {
          CAPTURE(pes);
          CAPTURE(vertices);
          CAPTURE(weighted);
          CAPTURE(std::string(name(agent)));
          const sparse::iteration_options options{.agent = agent,
                                                  .chunk_bytes = 256,
                                                  .tiles = 1 + static_cast<int>(r.below(7)),
                                                  .blocks = 1 + static_cast<int>(r.below(3)),
                                                  .halo_only = r.below(4) == 0};
          check_ranks<double>(*m, r, vertices, weighted, r.below(2) == 1, options);
          check_ranks<float>(*m, r, vertices, weighted, r.below(2) == 1, options);
        }
  }
}

TEST_CASE("ranks converge, and a watcher ends them") {
  auto m = test_machine(2);
  if (!m) return;
  random r(42);
  const sparse::csr<double> a = random_edges_in<double>(r, 500, 3000, 1);
  const auto out = weights_out(a, false);
  pagerank::solver<double> s(*m, a.view(), out.data());
  std::vector<double> ranks(500, 1.0 / 500);
  const auto done = s.solve(ranks.data(), nullptr, nullptr, {.tolerance = 500 * 1e-12});
  CHECK(done.converged);
  CHECK(done.iterations > 10);
  CHECK(done.change < 500 * 1e-12);
  REQUIRE(static_cast<index_t>(done.report.history.size()) == done.iterations);
  CHECK(done.report.history.back() == done.change);
  CHECK(done.report.history[3] < done.report.history[0]);
  CHECK(done.report.wait_seconds.size() == 2);
  CHECK(std::fabs(std::accumulate(ranks.begin(), ranks.end(), 0.0) - 1) < 1e-12);
  CHECK(done.report.bytes_sent[1] > 0);
  std::fill(ranks.begin(), ranks.end(), 1.0 / 500);
  const auto ended = s.solve(ranks.data(), nullptr, nullptr, {.tolerance = 0, .max_iterations = 100000},
                             [](const pagerank::progress& p) { return p.iterations < 20; });
  CHECK_FALSE(ended.converged);
  CHECK(ended.iterations >= 20);
  CHECK(ended.iterations < 1000);
  std::fill(ranks.begin(), ranks.end(), 1.0 / 500);
  CHECK(s.solve(ranks.data(), nullptr, nullptr, {.max_iterations = 0}).iterations == 0);
  CHECK(ranks[7] == 1.0 / 500);
}

TEST_CASE("options that make no sense are refused") {
  auto m = test_machine(1);
  if (!m) return;
  random r(43);
  const sparse::csr<double> a = random_edges_in<double>(r, 40, 100, 1);
  const auto out = weights_out(a, false);
  const auto refused = [&](const sparse::iteration_options& o, std::initializer_list<std::string> parts) {
    check_parts(failure_of<argument_error>([&] { pagerank::solver<double>(*m, a.view(), out.data(), o); }), parts);
  };
  refused({.chunk_bytes = 100}, {"chunk_bytes = 100"});
  refused({.tiles = -1}, {"tiles = -1"});
  refused({.blocks = -2}, {"blocks = -2"});
  refused({.threads = 33}, {"threads = 33", "multiple of 32"});
  pagerank::solver<double> s(*m, a.view(), out.data());
  std::vector<double> ranks(40, 1.0 / 40);
  check_parts(failure_of<argument_error>([&] { s.solve(ranks.data(), nullptr, nullptr, {.alpha = 1.5}); }),
              {"alpha = 1.5"});
  check_parts(failure_of<argument_error>([&] { s.solve(ranks.data(), nullptr, nullptr, {.max_iterations = -1}); }),
              {"max_iterations = -1"});
}

}  // namespace
}  // namespace starling::test
