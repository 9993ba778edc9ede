// Where solves start and where they end: starting points, targets, numbers of iterations.
#include <doctest/doctest.h>

#include "cg/matrices.hpp"
#include "support/cg_solves.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::method;
using cg::preconditioner;
using cg::solve_options;
using test::check_converged;
using test::known_system;
using test::methods;
using test::outcome;
using test::preconditioners;
using test::solved;

TEST_CASE("starting points") {
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  const csr<double> a = cg::elasticity_3d<double>(4, 3, 3);
  const test::vector truth = test::random_vector(a.rows(), 4);
  const test::vector b = test::product(a, truth);
  cg::solver<double> s(*m, a.view(), {.block_size = 3});
  for (const method by : methods)
    for (const preconditioner p : preconditioners) {
      const solve_options o{.how = by, .m = p, .rtol = 1e-9, .blocks = 2};
      const test::vector start = test::random_vector(a.rows(), 5);
      const outcome<double> got = solved(s, b, o, start);
      check_converged(a, b, got);
      CHECK(std::abs(got.result.history[0] - test::norm(test::residual(a, b, start))) < 1e-9);
      // The solution is one too, and a start from what has converged has nothing to do.
      const outcome<double> again = solved(s, b, o, got.x);
      CHECK(again.result.iterations == 0);
      CHECK(again.result.history.size() == 1);
      CHECK(again.x == got.x);
      const outcome<double> exact = solved(s, b, o, truth);
      CHECK(exact.result.iterations == 0);
      CHECK(exact.result.why == cg::stop::converged);
      CHECK(exact.x == truth);
    }
}

TEST_CASE("nothing on the right") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(7, 6);
  cg::solver<double> s(*m, a.view());
  const test::vector zero(42, 0.0);
  for (const method by : methods) {
    const outcome<double> got = solved(s, zero, {.how = by}, test::random_vector(42, 1));
    CHECK(got.result.why == cg::stop::converged);
    CHECK(got.result.iterations == 0);
    CHECK(got.result.residual == 0);
    CHECK(got.result.history == std::vector<double>{0.0});
    CHECK(got.x == zero);
    // A given number of iterations is done, from zero and from elsewhere.
    const solve_options five{.how = by, .max_iterations = 5, .fixed = true};
    const outcome<double> from_zero = solved(s, zero, five);
    CHECK(from_zero.result.iterations == 5);
    CHECK(from_zero.x == zero);
    const outcome<double> from_elsewhere = solved(s, zero, five, test::random_vector(42, 1));
    CHECK(from_elsewhere.result.iterations == 5);
    CHECK(from_elsewhere.result.residual < from_elsewhere.result.history[0]);
  }
}

TEST_CASE("a given number of iterations") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  known_system<double> system(cg::grid_2d<double>(9, 9), 3, 1e-5);
  cg::solver<double> s(*m, system.a.view(), {.block_size = 3});
  for (const method by : methods)
    for (const preconditioner p : preconditioners)
      for (const index_t n : {1, 2, 7, 300}) {  // 300: long after all digits are right
        const outcome<double> got =
            solved(s, system.b, {.how = by, .m = p, .max_iterations = n, .fixed = true, .blocks = 2});
        CHECK(got.result.why == cg::stop::iterations);
        CHECK(got.result.iterations == n);
        CHECK(got.result.history.size() == static_cast<std::size_t>(n) + 1);
        CHECK(std::isfinite(got.result.residual));
        if (n == 300) CHECK(got.result.residual < 1e-10 * test::norm(system.b));
        if (n > 7) continue;
        const test::oracle_preconditioner<double> with(system.a, {.m = p}, 3, s.facts().first_rows);
        const auto wanted = test::oracle_solve(system.a, system.b, test::vector(81, 0.0), with, 0, n);
        for (std::size_t i = 0; i < 81; ++i) CHECK(std::abs(got.x[i] - wanted.x[i]) < 1e-10);
      }
}

TEST_CASE("too few iterations") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(20, 20);
  cg::solver<double> s(*m, a.view());
  for (const method by : methods) {
    const outcome<double> got = solved(s, test::random_vector(400, 1), {.how = by, .rtol = 1e-9, .max_iterations = 10});
    CHECK(got.result.why == cg::stop::iterations);
    CHECK(got.result.iterations == 10);
    CHECK(got.result.history.size() == 11);
    CHECK(got.result.residual > got.result.target);
    CHECK(std::abs(got.result.residual - got.result.history.back()) < 1e-9 * got.result.residual);
  }
}

TEST_CASE("absolute and relative targets") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(10, 10);
  const test::vector b = test::random_vector(100, 1);
  cg::solver<double> s(*m, a.view());
  CHECK(solved(s, b, {.rtol = 0, .atol = 1e-6}).result.target == 1e-6);
  CHECK(solved(s, b, {.rtol = 1e-3, .atol = 1e-9}).result.target == doctest::Approx(1e-3 * test::norm(b)));
  const outcome<double> loose = solved(s, b, {.rtol = 0, .atol = 2 * test::norm(b)});
  CHECK(loose.result.iterations == 0);
  CHECK(loose.result.why == cg::stop::converged);
  // No target at all: as far as it goes, and then it says so.
  for (const method by : methods) {
    const outcome<double> furthest = solved(s, b, {.how = by, .rtol = 0, .atol = 0});
    CHECK(std::string(name(furthest.result.why)) == "stagnated");
    CHECK(furthest.result.residual < 1e-14 * test::norm(b));
  }
}

TEST_CASE("iterations long after all digits are right") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  const csr<double> a = test::compressed<double>(test::random_system(60, 2, 5));
  const test::vector b = test::random_vector(60, 3);
  cg::solver<double> s(*m, a.view(), {.block_size = 3});
  for (const method by : methods)
    for (const preconditioner p : preconditioners) {
      CAPTURE(std::string(name(by)));
      CAPTURE(std::string(name(p)));
      const outcome<double> got = solved(s, b, {.how = by, .m = p, .max_iterations = 3000, .fixed = true, .blocks = 1});
      CHECK(std::string(name(got.result.why)) == "iterations");
      CHECK(got.result.iterations == 3000);
      CHECK(got.result.residual < 1e-14 * test::norm(b));
    }
}

}  // namespace
}  // namespace starling
