// How a matrix deals its rows to blocks: once for each number of blocks, as long as it is in use; so that solves and
// products that take turns plan once and leave memory as it is.
#include <doctest/doctest.h>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "sparse/matrix.hpp"
#include "support/cg_oracle.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::method;
using cg::preconditioner;
using cg::solve_options;

bool operator==(const memory_info& a, const memory_info& b) {
  return a.capacity == b.capacity && a.in_use == b.in_use && a.largest_free == b.largest_free;
}

// All rows, each once, in order.
void check_covered(const sparse::block_partition<double>& d, const sparse::matrix<double>& a, machine& m, int blocks,
                   index_t unit) {
  CHECK(d.blocks == blocks);
  CHECK(d.unit == unit);
  for (int pe = 0; pe < m.size(); ++pe) {
    std::vector<sparse::block_plan> plans(static_cast<std::size_t>(blocks));
    m.copy(plans.data(), d.data.plans.on(pe), plans.size() * sizeof(sparse::block_plan));
    index_t row = 0;
    for (const sparse::block_plan& plan : plans) {
      CHECK(plan.first_row == row);
      CHECK(plan.rows <= d.most_block_rows);
      CHECK(plan.parts <= d.most_block_parts);
      row += plan.rows;
      if (row < a.rows(pe).rows) CHECK(row % unit == 0);
    }
    CHECK(row == a.rows(pe).rows);
  }
}

TEST_CASE("block partitions in use are kept, and others are dropped") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const auto grid = cg::grid_2d<double>(31, 40);
  sparse::matrix<double> a(*m, grid.view(), {.unit = 3});
  const auto plans = [&](int blocks, index_t unit) {
    const sparse::block_partition<double>& d = a.partitioned(blocks, unit);
    check_covered(d, a, *m, blocks, unit);
    return d.data.plans.on(0);
  };
  const sparse::block_plan* const two = plans(2, 1);
  const sparse::block_plan* const threes = plans(2, 3);
  CHECK(two != threes);
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(plans(2, 1) == two);
    CHECK(plans(2, 3) == threes);
  }
  const auto ask_for_many = [&] {
    for (int blocks = 1; blocks <= 12; ++blocks) {
      (void)plans(blocks, 1);
      CHECK(plans(2, 3) == threes);  // in use all the time
    }
    return m->memory().in_use;
  };
  const std::size_t after_twelve = ask_for_many();
  CHECK(ask_for_many() == after_twelve);
}

TEST_CASE("solves and products in turn leave memory as it is, with the same bits") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const auto grid = cg::grid_2d<double>(21, 20);
  const test::vector b = test::random_vector(grid.rows(), 5);
  cg::solver<double> s(*m, grid.view(), {.block_size = 3});
  const auto round = [&] {
    std::vector<test::vector> results;
    for (const cg::control who : {cg::control::cpu_free, cg::control::streams})
      for (const preconditioner p : {preconditioner::none, preconditioner::jacobi, preconditioner::block_jacobi}) {
        results.emplace_back(b.size(), 0.0);
        const solve_options o{.how = method::fused, .who = who, .m = p, .rtol = 1e-8, .blocks = 3};
        CHECK(s.solve(b.data(), results.back().data(), o).why == cg::stop::converged);
        results.emplace_back(b.size(), 0.0);
        s.multiply(b.data(), results.back().data());
      }
    return results;
  };
  const auto first = round();
  const memory_info before = m->memory();
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(round() == first);
    CHECK(m->memory() == before);
  }
}

}  // namespace
}  // namespace starling
