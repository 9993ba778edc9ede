// Solves of linear systems by every method, with every preconditioner, in every storage, on every number of PEs and
// blocks, against a plain solve.
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
using test::check_iterations;
using test::known_system;
using test::methods;
using test::outcome;
using test::preconditioners;
using test::solved;
using test::storages;

// All methods and preconditioners, for `blocks` in turn.
template <class T>
void check_all(known_system<T>& system, machine& m, storage how, const std::vector<int>& blocks) {
  cg::solver<T> s(m, system.a.view(), {.how = how, .block_size = system.block_size});
  for (const int n : blocks)
    for (const preconditioner p : preconditioners)
      for (const method by : methods) {
        CAPTURE(m.size());
        CAPTURE(std::string(name(how)));
        CAPTURE(n);
        CAPTURE(std::string(name(p)));
        CAPTURE(std::string(name(by)));
        const solve_options o{.how = by, .m = p, .rtol = system.rtol, .blocks = n};
        const outcome<T> got = solved(s, system.b, o);
        check_converged(system.a, system.b, got);
        CHECK(got.result.blocks == n);
        CHECK(std::abs(got.result.history[0] - test::norm(system.b)) < 1e-5 * test::norm(system.b));
        const auto& wanted = system.wanted(o, s.facts().first_rows);
        check_iterations(got.result.iterations, wanted.iterations);
        // The first steps are those of any conjugate gradients.
        for (std::size_t i = 0; i < std::min<std::size_t>(6, got.result.history.size()); ++i)
          CHECK(std::abs(got.result.history[i] - wanted.history[i]) <
                (sizeof(T) == 4 ? 1e-3 : 1e-9) * wanted.history[i] +
                    (sizeof(T) == 4 ? 1e-6 : 1e-12) * wanted.history[0]);
      }
}

TEST_CASE("blocks of 3 x 3, all methods, preconditioners, storages, PEs and blocks") {
  known_system<double> system(cg::elasticity_3d<double>(4, 4, 4), 3, 1e-3);
  for (const int n_pes : {1, 2, 3, 4}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    std::size_t turn = static_cast<std::size_t>(n_pes);
    constexpr int blocks[] = {1, 3, 5, 2};
    for (const storage how : storages) check_all(system, *m, how, {blocks[turn++ % 4]});
  }
}

TEST_CASE("a grid of many slices") {
  known_system<double> system(cg::grid_2d<double>(26, 22), 4, 1e-6);
  for (const int n_pes : {1, 2, 4}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (m) check_all(system, *m, storage::sliced, n_pes == 2 ? std::vector{1, 2, 3, 5} : std::vector{5});
  }
}

TEST_CASE("uneven rows, and nets of a circuit") {
  known_system<double> uneven(cg::uneven<double>(500, 5, 4), 2, 1e-5);
  known_system<double> nets(test::compressed<double>(test::random_system(200, 3, 9)), 6, 1e-9);
  for (const int n_pes : {2, 3}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    check_all(uneven, *m, storage::automatic, {3});
    check_all(nets, *m, storage::compressed, {2});
  }
}

TEST_CASE("single precision") {
  known_system<float> system(cg::grid_2d<float>(15, 12), 6, 1e-4);
  for (const int n_pes : {1, 3}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    for (const storage how : storages) check_all(system, *m, how, {n_pes});
  }
}

TEST_CASE("fewer rows than PEs, slices or blocks") {
  for (const index_t n : {1, 2, 5, 33}) {
    known_system<double> system(test::compressed<double>(test::random_system(n, 2, 5)), 1, 1e-10);
    for (const int n_pes : {1, 4}) {
      std::optional<machine> m = test::test_machine(n_pes);
      if (m) check_all(system, *m, n == 5 ? storage::compressed : storage::sliced, {5});
    }
  }
}

TEST_CASE("PEs without rows") {
  known_system<double> system(cg::grid_2d<double>(12, 8), 8, 1e-9);
  const std::vector<std::vector<index_t>> partitions = {
      {0, 0, 96}, {0, 96, 96}, {0, 48, 48, 96}, {0, 0, 0, 96}, {0, 8, 8, 96, 96}};
  for (const auto& first_rows : partitions) {
    std::optional<machine> m = test::test_machine(static_cast<int>(first_rows.size()) - 1);
    if (!m) continue;
    for (const storage how : {storage::sliced, storage::compressed}) {
      cg::solver<double> s(*m, system.a.view(), {.first_rows = first_rows, .how = how, .block_size = 8});
      for (const method by : methods)
        for (const preconditioner p : preconditioners) {
          const solve_options o{.how = by, .m = p, .rtol = system.rtol, .blocks = 2};
          const outcome<double> got = solved(s, system.b, o);
          check_converged(system.a, system.b, got);
          check_iterations(got.result.iterations, system.wanted(o, first_rows).iterations);
        }
    }
  }
}

TEST_CASE("a row longer than a block's share") {
  test::loose_rows rows(8300);
  for (index_t i = 0; i < 8300; ++i) {
    rows[static_cast<std::size_t>(i)][i] = 2 + static_cast<double>(i % 7);
    if (i != 40) test::set_pair(rows, 40, i, 1e-3);
  }
  known_system<double> system(test::compressed<double>(rows), 1, 1e-9);
  std::optional<machine> m = test::test_machine(2);
  if (m) check_all(system, *m, storage::compressed, {3});
}

TEST_CASE("the degree of the polynomial") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  known_system<double> system(cg::grid_2d<double>(20, 20), 1, 1e-8);
  cg::solver<double> s(*m, system.a.view());
  index_t before = 1000;
  for (const int degree : {1, 2, 4, 16}) {
    const solve_options o{.m = preconditioner::chebyshev, .degree = degree, .rtol = 1e-8, .blocks = 3};
    const outcome<double> got = solved(s, system.b, o);
    check_converged(system.a, system.b, got);
    const test::oracle_preconditioner<double> with(system.a, o, 1, {0, 400});
    check_iterations(got.result.iterations, test::oracle_solve(system.a, system.b, test::vector(400, 0.0), with,
                                                               1e-8 * test::norm(system.b), 1000)
                                                .iterations);
    CHECK(got.result.iterations < before);
    before = got.result.iterations;
  }
}

TEST_CASE("blocks of every size on the diagonal") {
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(17, 19);  // 323 rows: the last block is smaller
  for (const index_t size : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32})
    for (const storage how : {storage::sliced, storage::compressed}) {
      known_system<double> system(a, size, 1e-8);
      cg::solver<double> s(*m, a.view(), {.how = how, .block_size = size});
      const solve_options o{.m = preconditioner::block_jacobi, .rtol = 1e-8, .blocks = 4};
      const outcome<double> got = solved(s, system.b, o);
      check_converged(a, system.b, got);
      check_iterations(got.result.iterations, system.wanted(o, s.facts().first_rows).iterations);
    }
}

}  // namespace
}  // namespace starling
