// The pipelined method computes its residual anew from x when the recurrences have come away from it: at the right
// time, so that badly conditioned systems converge, with the bits of a plain solve, and no more often than it helps.
#include <doctest/doctest.h>

#include "cg/matrices.hpp"
#include "support/cg_pipelined_oracle.hpp"
#include "support/cg_solves.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::method;
using cg::preconditioner;
using cg::solve_options;
using test::check_converged;
using test::methods;
using test::outcome;
using test::solved;

constexpr index_t never = 1'000'000;

// A grid, scaled on both sides by numbers from `decades` decades.
csr<double> scaled_grid(index_t side, double decades) {
  csr<double> a = cg::grid_2d<double>(side, side);
  const test::vector scale = test::random_vector(side * side, 9);
  for (std::size_t i = 0; i < scale.size(); ++i)
    for (index_t e = a.row_start[i]; e < a.row_start[i + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      a.value[at] *= std::pow(10.0, decades * (scale[i] + scale[static_cast<std::size_t>(a.column[at])]) / 4);
    }
  return a;
}

// Conductances between 1 and 1000, one after another.
csr<double> rough_chain(index_t n, std::uint64_t seed) {
  test::vector k = test::random_vector(n + 1, seed);
  for (double& v : k) v = std::pow(10.0, 1.5 + 1.5 * v);
  return test::compressed<double>(test::chain(k));
}

test::vector inverse_diagonal(const csr<double>& a) {
  test::vector inverse;
  for (index_t row = 0; row < a.rows(); ++row)
    test::each_entry(a, row, [&](index_t c, double v) {
      if (c == row) inverse.push_back(1 / v);
    });
  return inverse;
}

TEST_CASE("replacements reach what the pipelined recurrence alone does not") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = scaled_grid(20, 2);
  const test::vector b = test::random_vector(400, 4);
  const double size = test::norm(b);
  cg::solver<double> s(*m, a.view());
  solve_options o{.how = method::pipelined, .max_iterations = 250, .fixed = true, .replace_every = never};
  const outcome<double> alone = solved(s, b, o);
  CHECK(alone.result.residual > 1e-12 * size);
  o.replace_every = 50;
  const outcome<double> regular = solved(s, b, o);
  CHECK(regular.result.replacements == 4);
  CHECK(regular.result.residual < 1e-13 * size);
  o.replace_every = 0;
  const outcome<double> chosen = solved(s, b, o);
  CHECK(chosen.result.replacements >= 1);
  CHECK(chosen.result.replacements <= 8);
  CHECK(chosen.result.residual < 1e-13 * size);
  for (const method by : methods) check_converged(a, b, solved(s, b, {.how = by, .rtol = 1e-12}));
  // Without replacements the end is looked at all the same: nobody is told of a residual that is not there.
  check_converged(a, b, solved(s, b, {.how = method::pipelined, .rtol = 1e-12, .replace_every = never}));
}

TEST_CASE("a chain of conductances over three decades") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const csr<double> a = rough_chain(100, seed);
    const test::vector b = test::random_vector(a.rows(), seed + 10);
    cg::solver<double> s(*m, a.view(), {.block_size = 1});
    for (const preconditioner p : {preconditioner::none, preconditioner::jacobi}) {
      CAPTURE(std::string(name(p)));
      const solve_options o{.how = method::pipelined, .m = p, .rtol = 1e-9};
      check_converged(a, b, solved(s, b, o));
    }
  }
}

TEST_CASE("the iterations of the pipelined method are those of any conjugate gradients") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> systems[] = {cg::grid_2d<double>(30, 30), scaled_grid(20, 2), cg::elasticity_3d<double>(6, 5, 5)};
  for (const auto& a : systems)
    for (const double rtol : {1e-6, 1e-8}) {
      CAPTURE(a.rows());
      CAPTURE(rtol);
      const test::vector b = test::random_vector(a.rows(), 6);
      cg::solver<double> s(*m, a.view());
      const outcome<double> got = solved(s, b, {.how = method::pipelined, .rtol = rtol});
      check_converged(a, b, got);
      const test::oracle_preconditioner<double> none(a, {}, 1, {0, a.rows()});
      const test::oracle_result wanted =
          test::oracle_solve(a, b, test::vector(b.size(), 0.0), none, rtol * test::norm(b), 5000);
      test::check_iterations(got.result.iterations, wanted.iterations);
    }
}

TEST_CASE("single precision replaces its residual too") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<float> a = cg::grid_2d<float>(40, 40);
  const test::vector b = test::random_vector(a.rows(), 3);
  cg::solver<float> s(*m, a.view());
  const outcome<float> got = solved(s, b, {.how = method::pipelined, .rtol = 1e-5});
  check_converged(a, b, got);
  CHECK(got.result.replacements >= 2);  // one of them at the end
}

TEST_CASE("one block of one PE has the bits of a plain solve") {
  std::optional<machine> m = test::test_machine(1);
  if (!m || m->kind() != machine_kind::host) return;
  const csr<double> systems[] = {scaled_grid(20, 2), rough_chain(60, 5), cg::grid_2d<double>(17, 23)};
  for (const auto& a : systems)
    for (const preconditioner p : {preconditioner::none, preconditioner::jacobi})
      for (const index_t every : {index_t{0}, index_t{9}, never})
        for (const bool from_zero : {true, false}) {
          CAPTURE(a.rows());
          CAPTURE(every);
          CAPTURE(from_zero);
          CAPTURE(std::string(name(p)));
          const test::vector b = test::random_vector(a.rows(), 2);
          const test::vector start = from_zero ? test::vector(b.size(), 0.0) : test::random_vector(a.rows(), 12);
          cg::solver<double> s(*m, a.view(), {.how = cg::storage::sliced});
          const solve_options o{.how = method::pipelined,
                                .m = p,
                                .rtol = 1e-11,
                                .max_iterations = 260,
                                .replace_every = every,
                                .blocks = 1};
          const outcome<double> got = solved(s, b, o, start);
          test::pipelined_oracle plain(a, p == preconditioner::none ? test::vector{} : inverse_diagonal(a), every);
          const test::pipelined_run wanted = plain.solve(b, start, 1e-11 * test::norm(b), 260);
          CHECK((got.result.why == cg::stop::converged) == wanted.converged);
          CHECK(got.result.iterations == wanted.iterations);
          CHECK(got.result.replacements == static_cast<index_t>(wanted.replaced.size()));
          CHECK(got.result.history == wanted.history);
          CHECK(got.x == wanted.x);
        }
}

TEST_CASE("the gap is estimated from above, and not by much") {
  const csr<double> systems[] = {scaled_grid(20, 2), rough_chain(60, 5), cg::grid_2d<double>(40, 40),
                                 cg::elasticity_3d<double>(5, 5, 5)};
  for (const auto& a : systems)
    for (const bool jacobi : {false, true}) {
      CAPTURE(a.rows());
      CAPTURE(jacobi);
      const test::vector b = test::random_vector(a.rows(), 8);
      test::pipelined_oracle plain(a, jacobi ? inverse_diagonal(a) : test::vector{}, 0);
      const test::pipelined_run run = plain.solve(b, test::vector(b.size(), 0.0), 1e-12 * test::norm(b), 2000);
      double least = 1e300, most = 0;
      for (std::size_t i = 0; i < run.truth.size(); ++i) {
        if (run.truth[i] == 0) continue;
        least = std::min(least, run.estimated[i] / run.truth[i]);
        most = std::max(most, run.estimated[i] / run.truth[i]);
      }
      CHECK(least >= 1);
      CHECK(most < 1e5);
    }
}

}  // namespace
}  // namespace starling
