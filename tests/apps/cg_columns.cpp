// Several right-hand sides in one call: each column is solved as it would be alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "cg/matrices.hpp"
#include "support/cg_solves.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::method;
using cg::preconditioner;
using cg::solve_options;
using cg::solve_result;
using test::methods;
using test::preconditioners;

// Columns that take different numbers of iterations; the second is zero, the last like the first.
test::vector right_hand_sides(index_t rows) {
  const test::vector noise = test::random_vector(rows, 1);
  test::vector all = noise;
  all.resize(2 * noise.size(), 0.0);
  for (index_t i = 0; i < rows; ++i) all.push_back(static_cast<double>(i % 5) + 1);
  all.insert(all.end(), noise.begin(), noise.end());
  return all;
}
constexpr index_t sides = 4;

void check_like_alone(cg::solver<double>& s, const test::vector& b, const solve_options& o) {
  const auto n = b.size() / sides;
  test::vector x(b.size(), 0.5);
  const std::vector<solve_result> got = s.solve_columns(b.data(), x.data(), sides, o);
  REQUIRE(got.size() == sides);
  for (std::size_t c = 0; c < sides; ++c) {
    CAPTURE(c);
    const auto first = static_cast<std::ptrdiff_t>(c * n);
    const auto end = static_cast<std::ptrdiff_t>((c + 1) * n);
    const test::vector one(b.begin() + first, b.begin() + end);
    const auto alone = test::solved(s, one, o, test::vector(n, 0.5));
    CHECK(alone.same_as({got[c], test::vector(x.begin() + first, x.begin() + end)}));
    CHECK(got[c].blocks == alone.result.blocks);
  }
}

TEST_CASE("columns have the bits of their own solves") {
  for (const int n_pes : {1, 3}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    const csr<double> a = cg::grid_2d<double>(11, 10);
    cg::solver<double> s(*m, a.view(), {.block_size = 2});
    const test::vector b = right_hand_sides(a.rows());
    for (const method how : methods)
      for (const preconditioner p : preconditioners)
        for (const cg::control who : {cg::control::cpu_free, cg::control::streams, cg::control::graph}) {
          CAPTURE(n_pes);
          CAPTURE(std::string(name(how)));
          CAPTURE(std::string(name(p)));
          CAPTURE(std::string(name(who)));
          check_like_alone(s, b, {.how = how, .who = who, .m = p, .rtol = 1e-8, .blocks = 2});
          check_like_alone(s, b, {.how = how, .who = who, .m = p, .max_iterations = 4, .fixed = true, .blocks = 2});
        }
  }
}

TEST_CASE("a launch that ends between two columns, and within one") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(11, 10);
  cg::solver<double> s(*m, a.view());
  const test::vector b = right_hand_sides(a.rows());
  // A launch has room for 65 entries of the history when somebody watches: it ends wherever these end.
  for (index_t iterations = 14; iterations <= 40; iterations += 3) {
    CAPTURE(iterations);
    const solve_options o{.max_iterations = iterations, .fixed = true, .blocks = 2};
    test::vector x(b.size(), 0.0), wanted(b.size(), 0.0);
    std::vector<index_t> columns;
    const auto got = s.solve_columns(b.data(), x.data(), sides, o, [&](const cg::progress& at) {
      columns.push_back(at.column);
      return true;
    });
    const auto plain = s.solve_columns(b.data(), wanted.data(), sides, o);
    CHECK(x == wanted);
    CHECK(std::is_sorted(columns.begin(), columns.end()));
    for (std::size_t c = 0; c < sides; ++c) {
      CHECK(got[c].iterations == iterations);
      CHECK(got[c].history == plain[c].history);
      CHECK(got[c].history.size() == static_cast<std::size_t>(got[c].iterations) + 1);
    }
  }
}

TEST_CASE("stopping at a column") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(11, 10);
  cg::solver<double> s(*m, a.view());
  const test::vector b = right_hand_sides(a.rows());
  test::vector x(b.size(), 0.25);
  const auto got = s.solve_columns(
      b.data(), x.data(), sides, {.rtol = 1e-8},
      [](const cg::progress& at) { return at.column < 2 || at.iterations < 3; }, true);
  CHECK(got[0].why == cg::stop::converged);
  CHECK(got[2].why == cg::stop::iterations);
  CHECK(got[2].iterations == 3);
  CHECK(got[3].history.empty());
  CHECK(std::all_of(x.end() - a.rows(), x.end(), [](double v) { return v == 0.25; }));
  check_like_alone(s, b, {.rtol = 1e-8});
}

TEST_CASE("wrong columns") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(3, 3);
  cg::solver<double> s(*m, a.view());
  test::vector b(18, 1.0), x(18, 0.0);
  for (const index_t n : {0, -1})
    test::check_parts(test::failure_of<argument_error>([&] { s.solve_columns(b.data(), x.data(), n); }),
                      {"right-hand sides", "at least 1"});
  b[17] = std::numeric_limits<double>::quiet_NaN();
  test::check_parts(test::failure_of<argument_error>([&] { s.solve_columns(b.data(), x.data(), 2); }), {"b[17]"});
}

}  // namespace
}  // namespace starling
