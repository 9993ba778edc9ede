// Conjugate gradients pass check mode: all methods, preconditioners and storages, with blocks and PEs without rows,
// verifications, replacements, and stretches that go on from one another; with the bits of a machine that runs freely.
// STARLING_PROTOCOL_SEEDS: how many schedules each solve is explored under.
#include <cstdlib>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "support/cg_choices.hpp"
#include "support/cg_oracle.hpp"
#include "support/checked.hpp"

namespace starling::test::shipped_cg_tests {
namespace {

using cg::method;
using cg::preconditioner;
using cg::solve_options;
using cg::storage;

std::uint64_t seeds() {
  const char* text = std::getenv("STARLING_PROTOCOL_SEEDS");
  return text == nullptr ? 24 : std::strtoull(text, nullptr, 10);
}

// A few iterations, whatever they reach.
solve_options few(method how, preconditioner m, int blocks, index_t iterations = 3) {
  return {.how = how, .m = m, .degree = 2, .max_iterations = iterations, .fixed = true, .blocks = blocks};
}

// The solves, one after another, on a machine in check mode and on one that runs freely. `each`: iteration by
// iteration. Each is for so many columns.
template <class T>
void check_solves(const cg::csr<T>& a, int n_pes, const cg::matrix_options& o, const std::vector<solve_options>& solves,
                  bool each = false, index_t columns = 1) {
  const auto b = as<T>(random_vector(columns * a.rows(), 3));
  const std::function<bool(const cg::progress&)> watch = [](const cg::progress&) { return true; };
  const auto run = [&](machine& m) {
    cg::solver<T> s(m, a.view(), o);
    std::vector<std::vector<T>> results;
    for (const solve_options& options : solves) {
      results.emplace_back(b.size(), T{0});
      (void)s.solve_columns(b.data(), results.back().data(), columns, options, each ? watch : nullptr, each);
    }
    return results;
  };
  machine freely = machine::host(n_pes);
  machine checked = checked_machine(n_pes, seeds());
  CAPTURE(n_pes);
  CAPTURE(std::string(name(o.how)));
  CAPTURE(std::string(name(solves[0].how)));
  CAPTURE(std::string(name(solves[0].m)));
  CAPTURE(solves[0].blocks);
  try {
    CHECK(run(checked) == run(freely));
    CHECK(checked.checked().accesses_seen);
  } catch (const check_error& e) {
    FAIL_CHECK(e.what());
  }
}

TEST_CASE("methods and preconditioners") {
  const auto grid = cg::grid_2d<double>(8, 12);
  for (const method how : methods)
    for (const preconditioner m : preconditioners) {
      check_solves(grid, 2, {.block_size = 4}, {few(how, m, 2)});
      check_solves(grid, 3, {.block_size = 4}, {few(how, m, 1)});
    }
}

TEST_CASE("storages") {
  const auto solid = cg::elasticity_3d<double>(4, 4, 4);
  const auto uneven = compressed<float>(random_system(70, 2, 1));
  for (const method how : methods)
    for (const int n_pes : {2, 3}) {
      check_solves(solid, n_pes, {.how = storage::sliced_3x3}, {few(how, preconditioner::none, 2, 2)});
      check_solves(uneven, n_pes, {.how = storage::compressed}, {few(how, preconditioner::jacobi, 2)});
      check_solves(uneven, n_pes, {.how = storage::sliced}, {few(how, preconditioner::jacobi, 2)});
    }
}

TEST_CASE("blocks that read all others, and blocks and PEs without rows") {
  const auto dense = compressed<double>(random_system(40, 20, 2));
  for (const method how : methods) {
    check_solves(dense, 2, {.how = storage::compressed}, {few(how, preconditioner::none, 3)});
    check_solves(dense, 2, {.how = storage::sliced}, {few(how, preconditioner::chebyshev, 4)});
    check_solves(dense, 3, {.first_rows = {0, 0, 32, 40}}, {few(how, preconditioner::chebyshev, 2)});
    check_solves(dense, 3, {.first_rows = {0, 40, 40, 40}}, {few(how, preconditioner::jacobi, 2)});
  }
}

// Blocks then wait for others to take the values that they read.
TEST_CASE("values of another PE that several blocks read") {
  const index_t n = 192;
  loose_rows rows(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    rows[static_cast<std::size_t>(i)][i] = i == 0 || i == n / 2 ? 200 : 3;
    if (i != 0) set_pair(rows, 0, i, -1);
    if (i != n / 2) set_pair(rows, n / 2, i, -1);
  }
  const auto hubs = compressed<double>(rows);
  for (const method how : methods)
    for (const int blocks : {2, 3, 4}) {
      check_solves(hubs, 2, {.how = storage::sliced}, {few(how, preconditioner::chebyshev, blocks, 2)});
      check_solves(hubs, 3, {.how = storage::compressed}, {few(how, preconditioner::none, blocks)});
    }
}

// A chain of blocks and PEs: each waits for its neighbours alone, so the ends drift apart as far as they may.
TEST_CASE("chains of blocks") {
  const auto line = compressed<double>(chain(vector(161, 1.0)));
  for (const method how : methods) {
    check_solves(line, 2, {}, {few(how, preconditioner::chebyshev, 3, 2)});
    check_solves(line, 3, {.how = storage::compressed}, {few(how, preconditioner::none, 2)});
    auto polynomial = few(how, preconditioner::chebyshev, 2, 2);
    polynomial.degree = 7;
    check_solves(line, 3, {}, {polynomial});
  }
}

TEST_CASE("replacements, verifications and the end") {
  const auto grid = cg::grid_2d<double>(6, 7);
  const auto single = cg::grid_2d<float>(6, 7);
  for (const method how : methods)
    for (const preconditioner m : {preconditioner::none, preconditioner::chebyshev}) {
      check_solves(grid, 2, {.how = storage::compressed},
                   {{.how = how, .m = m, .degree = 2, .rtol = 1e-3, .replace_every = 2, .blocks = 2}});
      // As far as single precision goes: verifications and restarts until nothing is gained.
      check_solves(single, 2, {}, {{.how = how, .m = m, .degree = 2, .rtol = 1e-9, .max_iterations = 30, .blocks = 1}});
    }
}

TEST_CASE("several columns") {
  const auto grid = cg::grid_2d<double>(8, 6);
  const auto line = compressed<double>(chain(vector(61, 1.0)));
  for (const method how : methods)
    for (const preconditioner m : preconditioners) {
      check_solves(grid, 2, {.block_size = 4}, {few(how, m, 2, 2)}, false, 3);
      check_solves(line, 3, {.block_size = 4}, {{.how = how, .m = m, .degree = 2, .rtol = 0.3, .blocks = 1}}, false, 2);
    }
}

TEST_CASE("stretches, and solves one after another") {
  const auto grid = cg::grid_2d<double>(9, 8);
  for (const method how : methods) {
    check_solves(grid, 2, {.block_size = 2}, {few(how, preconditioner::none, 2)}, true);
    check_solves(grid, 3, {.block_size = 2}, {few(how, preconditioner::chebyshev, 2, 2)}, true);
    // Other numbers of blocks lay out their signals and boxes anew.
    check_solves(grid, 2, {.block_size = 2},
                 {few(how, preconditioner::jacobi, 3, 2), few(method::fused, preconditioner::none, 1, 2),
                  few(method::pipelined, preconditioner::block_jacobi, 2, 3), few(how, preconditioner::none, 4, 1)});
  }
}

TEST_CASE("rows in pieces") {
  const index_t n = 310;
  loose_rows rows(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)][i] = i == 40 || i == 41 || i == n - 1 ? 400 : 4;
  for (const index_t hub : {index_t{40}, index_t{41}, n - 1})
    for (index_t i = 0; i < n; ++i)
      if (i != hub) set_pair(rows, hub, i, -1);
  const auto a = compressed<double>(rows);
  for (const method how : methods)
    for (const int n_pes : {1, 2})
      check_solves(a, n_pes, {.how = storage::compressed}, {few(how, preconditioner::none, 2, 1)});
  check_solves(a, 3, {.first_rows = {0, 40, 41, n}, .how = storage::compressed},
               {few(method::fused, preconditioner::jacobi, 2, 1)});
}

}  // namespace
}  // namespace starling::test::shipped_cg_tests
