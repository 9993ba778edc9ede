// Jacobi's method against the same steps in a loop, and against the solution: rows, diagonals, and diagonals whose PEs
// get only what they read.
#include "jacobi/jacobi.hpp"

#include <cmath>

#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/region_agents.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {

struct banded {
  index_t n;
  std::vector<index_t> offsets;
  std::vector<std::vector<double>> values;  // of each offset [n]
  std::vector<double> diagonal;

  double at(index_t row, std::size_t k) const {
    const index_t column = row + offsets[k];
    return column >= 0 && column < n ? values[k][static_cast<std::size_t>(row)] : 0.0;
  }
};

banded random_banded(random& r, index_t n, std::vector<index_t> offsets) {
  banded a{n, std::move(offsets), {}, std::vector<double>(static_cast<std::size_t>(n), 1.0)};
  for (std::size_t k = 0; k < a.offsets.size(); ++k) {
    a.values.emplace_back();
    for (index_t i = 0; i < n; ++i) a.values[k].push_back(static_cast<double>(r.below(2001)) / 1000 - 1);
  }
  for (index_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < a.offsets.size(); ++k)
      a.diagonal[static_cast<std::size_t>(i)] += 1.5 * std::fabs(a.at(i, k));
  return a;
}

template <class T>
sparse::csr<T> rows_of(const banded& a) {
  sparse::csr<T> rows;
  rows.columns = a.n;
  for (index_t i = 0; i < a.n; ++i) {
    for (std::size_t k = 0; k < a.offsets.size(); ++k)
      if (i + a.offsets[k] >= 0 && i + a.offsets[k] < a.n) {
        rows.column.push_back(static_cast<std::int32_t>(i + a.offsets[k]));
        rows.value.push_back(static_cast<T>(a.at(i, k)));
      }
    rows.row_start.push_back(static_cast<index_t>(rows.column.size()));
  }
  return rows;
}

double residual_of(const banded& a, const std::vector<double>& x, const std::vector<double>& b) {
  double squares = 0;
  for (index_t i = 0; i < a.n; ++i) {
    double r =
        b[static_cast<std::size_t>(i)] - a.diagonal[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < a.offsets.size(); ++k)
      if (a.at(i, k) != 0) r -= a.at(i, k) * x[static_cast<std::size_t>(i + a.offsets[k])];
    squares += r * r;
  }
  return std::sqrt(squares);
}

std::vector<double> by_loop(const banded& a, std::vector<double> x, const std::vector<double>& b, int iterations) {
  for (int step = 0; step < iterations; ++step) {
    std::vector<double> next(x.size());
    for (index_t i = 0; i < a.n; ++i) {
      double rest = b[static_cast<std::size_t>(i)];
      for (std::size_t k = 0; k < a.offsets.size(); ++k)
        if (a.at(i, k) != 0) rest -= a.at(i, k) * x[static_cast<std::size_t>(i + a.offsets[k])];
      next[static_cast<std::size_t>(i)] = rest / a.diagonal[static_cast<std::size_t>(i)];
    }
    x.swap(next);
  }
  return x;
}

enum class form { rows, diagonals };

template <class T>
jacobi::solver<T> solver_of(const machine& m, const banded& a, form how, const sparse::iteration_options& o) {
  const std::vector<T> diagonal(a.diagonal.begin(), a.diagonal.end());
  if (how == form::rows) return {m, rows_of<T>(a).view(), diagonal.data(), o};
  std::vector<std::vector<T>> values;
  for (const auto& v : a.values) values.emplace_back(v.begin(), v.end());
  jacobi::diagonals<T> d{a.n, a.offsets, {}};
  for (const auto& v : values) d.values.push_back(v.data());
  return {m, d, diagonal.data(), o};
}

TEST_CASE("steps are those of a loop, and they reach the solution") {
  random r(61);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const index_t n : {1, 50, 1100})
      for (const form how : {form::rows, form::diagonals})
        for (const region_agent agent : agents_of(*m, false)) {
          CAPTURE(pes);
          CAPTURE(n);
          CAPTURE(static_cast<int>(how));
          CAPTURE(std::string(name(agent)));
          std::vector<index_t> offsets{-static_cast<index_t>(r.below(20)) - 1, 1, 5};
          if (n == 50)
            for (index_t k = 6; k < 80; ++k) offsets.push_back(k);
          if (n == 1100) {  // any number of diagonals: they are taken by batches
            const auto count = static_cast<std::size_t>(r.below(20));
            offsets.clear();
            for (index_t k = 1 + r.below(3); offsets.size() < count; k += 1 + r.below(4))
              offsets.push_back(r.below(2) == 1 ? k : -k);
          }
          CAPTURE(offsets.size());
          const banded a = random_banded(r, n, offsets);
          const sparse::iteration_options o{.agent = agent,
                                            .chunk_bytes = 128,
                                            .tiles = 1 + static_cast<int>(r.below(7)),
                                            .blocks = 1 + static_cast<int>(r.below(3)),
                                            .halo_only = r.below(2) == 1};
          CAPTURE(o.halo_only);
          std::vector<double> b, x;
          for (index_t i = 0; i < n; ++i) {
            b.push_back(static_cast<double>(r.below(1000)));
            x.push_back(static_cast<double>(r.below(1000)));
          }
          const auto start = x;
          auto s = solver_of<double>(*m, a, how, o);
          const auto fixed = s.solve(b.data(), x.data(), {.max_iterations = 19, .fixed = true});
          CHECK(fixed.iterations == 19);
          const auto expected = by_loop(a, start, b, 19);
          double worst = 0;
          for (std::size_t i = 0; i < x.size(); ++i) worst = std::fmax(worst, std::fabs(x[i] - expected[i]));
          CHECK(worst < 1e-9);
          x = start;
          const double size = residual_of(a, std::vector<double>(x.size(), 0.0), b);
          const auto done = s.solve(b.data(), x.data(), {.target = 1e-10 * size});
          CHECK(done.converged);
          CHECK(done.residual <= 1e-10 * size);
          CHECK(std::fabs(done.residual - residual_of(a, x, b)) <= 1e-13 * size);
          CHECK(static_cast<index_t>(done.report.history.size()) == done.iterations + 1);
          CHECK(std::fabs(done.report.history[0] - residual_of(a, start, b)) <= 1e-12 * done.report.history[0]);

          auto single = solver_of<float>(*m, a, how, o);
          std::vector<float> xf(start.begin(), start.end());
          const std::vector<float> bf(b.begin(), b.end());
          CHECK(single.solve(bf.data(), xf.data(), {.target = 1e-4 * size}).converged);
        }
  }
}

TEST_CASE("no convergence, ends by the watcher, options") {
  auto m = test_machine(2);
  if (!m) return;
  random r(62);
  banded a = random_banded(r, 100, {-1, 1});
  const std::vector<double> b(100, 1.0);
  std::vector<double> x(100, 0.0);
  auto s = solver_of<double>(*m, a, form::rows, {});
  const auto some = s.solve(b.data(), x.data(), {.target = 0, .max_iterations = 3});
  CHECK_FALSE(some.converged);
  CHECK(some.iterations == 3);
  const auto ended = s.solve(b.data(), x.data(), {.target = 0, .max_iterations = 100000},
                             [](const jacobi::progress&) { return false; });
  CHECK(ended.iterations == 15);
  check_parts(failure_of<argument_error>([&] { s.solve(b.data(), x.data(), {.target = -1}); }), {"target = -1"});
  for (const double target : {1e200, 1e-200, HUGE_VAL})
    check_parts(failure_of<argument_error>([&] { s.solve(b.data(), x.data(), {.target = target}); }),
                {"target = ", "scale the system"});
  const std::vector<const double*> far(1, b.data());
  check_parts(failure_of<argument_error>([&] {
                jacobi::solver<double>(*m, jacobi::diagonals<double>{100, {(index_t{1} << 31) + 5}, far}, b.data());
              }),
              {"a diagonal at offset 2147483653"});
  check_parts(failure_of<argument_error>([&] { s.solve(b.data(), x.data(), {.max_iterations = -5}); }),
              {"max_iterations = -5"});
  for (auto& v : a.diagonal) v = 0.01;  // diverges until numbers end
  auto wild = solver_of<double>(*m, a, form::diagonals, {});
  const auto lost = wild.solve(b.data(), x.data(), {.max_iterations = 100000});
  CHECK_FALSE(lost.converged);
  CHECK(lost.iterations < 100000);
}

}  // namespace
}  // namespace starling::test
