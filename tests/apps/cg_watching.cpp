// Watching a solve, and ending it from outside.
#include <doctest/doctest.h>

#include "cg/matrices.hpp"
#include "support/cg_solves.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::method;
using cg::solve_options;
using cg::solve_result;
using test::check_converged;
using test::methods;
using test::outcome;
using test::solved;

TEST_CASE("watching each iteration") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(11, 10);
  const test::vector b = test::random_vector(a.rows(), 1);
  cg::solver<double> s(*m, a.view());
  std::vector<double> x(b.size(), 0.0);
  for (const method by : methods) {
    CAPTURE(std::string(name(by)));
    std::fill(x.begin(), x.end(), 0.0);
    std::vector<cg::progress> seen;
    std::vector<double> true_residuals;
    const solve_result r = s.solve(
        b.data(), x.data(), {.how = by, .rtol = 1e-8, .blocks = 2},
        [&](const cg::progress& p) {
          seen.push_back(p);
          true_residuals.push_back(test::norm(test::residual(a, b, x)));
          return true;
        },
        true);
    REQUIRE(seen.size() == static_cast<std::size_t>(r.iterations));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CHECK(seen[i].iterations == static_cast<index_t>(i) + 1);
      CHECK(seen[i].target == r.target);
      // The history has the residual that was computed from x after the look, if it was.
      CHECK(seen[i].residual == doctest::Approx(r.history[i + 1]).epsilon(1e-6));
      if (by != method::pipelined) CHECK(seen[i].residual == r.history[i + 1]);
      // The x that is shown has this residual.
      CHECK(std::abs(true_residuals[i] - r.history[i + 1]) < 1e-9 * r.history[0]);
    }
  }
}

TEST_CASE("stopping from outside") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(11, 10);
  const test::vector b = test::random_vector(a.rows(), 1);
  cg::solver<double> s(*m, a.view());
  for (const method by : methods) {
    const solve_options o{.how = by, .rtol = 1e-8, .blocks = 2};
    const outcome<double> got = solved(s, b, o, {}, [](const cg::progress& p) { return p.iterations < 5; }, true);
    CHECK(got.result.why == cg::stop::iterations);
    CHECK(got.result.iterations == 5);
    CHECK(got.result.history.size() == 6);
    CHECK(got.result.residual > got.result.target);
    solve_options five = o;
    five.max_iterations = 5;
    CHECK(got.same_as(solved(s, b, five)));
    five.fixed = true;
    CHECK(got.same_as(solved(s, b, five)));
    // From there on, to the end.
    check_converged(a, b, solved(s, b, o, got.x));
  }
}

TEST_CASE("an exception of the watcher costs the solve, not the solver") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(11, 10);
  const test::vector b = test::random_vector(a.rows(), 1);
  cg::solver<double> s(*m, a.view());
  const solve_options o{.rtol = 1e-8, .blocks = 2};
  const outcome<double> before = solved(s, b, o);
  CHECK_THROWS_AS(solved(
                      s, b, o, {}, [](const cg::progress&) -> bool { throw std::runtime_error("enough"); }, true),
                  std::runtime_error);
  CHECK(solved(s, b, o).same_as(before));
}

}  // namespace
}  // namespace starling
