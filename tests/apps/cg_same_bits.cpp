// What changes no bit of a solve: what stays in shared memory, what was solved before, and pauses.
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
using cg::storage;
using test::check_converged;
using test::methods;
using test::outcome;
using test::preconditioners;
using test::solved;
using test::storages;

TEST_CASE("what stays in shared memory changes no bit") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::elasticity_3d<double>(5, 4, 4);
  const test::vector b = test::random_vector(a.rows(), 8);
  for (const storage how : storages) {
    cg::solver<double> s(*m, a.view(), {.how = how, .block_size = 3});
    for (const method by : methods)
      for (const preconditioner p : preconditioners) {
        solve_options o{.how = by, .m = p, .max_iterations = 12, .fixed = true, .blocks = 2};
        const outcome<double> usual = solved(s, b, o);
        for (const index_t bytes : {0, 1000, 5000, 40000}) {
          o.keep_bytes = bytes;
          const outcome<double> got = solved(s, b, o);
          CHECK(got.result.kept_bytes <= static_cast<std::size_t>(bytes));
          CHECK(got.same_as(usual));
        }
      }
  }
}

TEST_CASE("the same bits again, whatever was solved in between") {
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  const csr<float> a = cg::grid_2d<float>(19, 16);
  const test::vector b = test::random_vector(a.rows(), 8);
  cg::solver<float> s(*m, a.view(), {.block_size = 4});
  for (const method by : methods)
    for (const preconditioner p : preconditioners) {
      const solve_options o{.how = by, .m = p, .rtol = 1e-4, .blocks = 3};
      const outcome<float> first = solved(s, b, o);
      solved(s, test::random_vector(a.rows(), 9),
             {.how = methods[(static_cast<int>(by) + 1) % 3], .m = preconditioner::jacobi, .rtol = 1e-2, .blocks = 5});
      std::vector<float> y(static_cast<std::size_t>(a.rows()));
      s.multiply(first.x.data(), y.data());
      CHECK(solved(s, b, o).same_as(first));
      cg::solver<float> other(*m, a.view(), {.block_size = 4});
      CHECK(solved(other, b, o).same_as(first));
    }
}

TEST_CASE("the same bits in stretches") {
  const csr<double> a = cg::grid_2d<double>(16, 15);
  const test::vector b = test::random_vector(a.rows(), 1);
  for (const int n_pes : {1, 2, 3}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    cg::solver<double> s(*m, a.view(), {.block_size = 2});
    for (const method by : methods)
      for (const preconditioner p : preconditioners) {
        CAPTURE(std::string(name(by)));
        CAPTURE(std::string(name(p)));
        // Replacements within, at and between the stretches.
        const solve_options o{.how = by, .m = p, .rtol = 1e-5, .replace_every = 7, .blocks = 2};
        const outcome<double> whole = solved(s, b, o);
        CHECK(solved(s, b, o, {}, [](const cg::progress&) { return true; }, true).same_as(whole));
      }
  }
}

TEST_CASE("stretches of many iterations") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = test::compressed<double>(test::chain(test::vector(801, 1.0)));
  const test::vector b = test::random_vector(a.rows(), 2);
  cg::solver<double> s(*m, a.view());
  for (const method by : methods) {
    const solve_options o{.how = by, .rtol = 1e-9, .blocks = 1};
    const outcome<double> whole = solved(s, b, o);
    index_t before = 0;
    int looks = 0;
    const outcome<double> cut = solved(s, b, o, {}, [&](const cg::progress& p) {
      CHECK(p.iterations > before);
      before = p.iterations;
      ++looks;
      return true;
    });
    CHECK(looks > 1);
    CHECK(before == cut.result.iterations);
    CHECK(cut.same_as(whole));
    check_converged(a, b, cut);
  }
}

}  // namespace
}  // namespace starling
