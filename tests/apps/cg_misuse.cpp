// Matrices that a solver of linear systems refuses, and what it says.
#include <limits>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "support/cg_oracle.hpp"
#include "support/cg_refusals.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::matrix_options;
using cg::storage;
using test::check_parts;
using test::failure_of;
using test::good_matrix;
using test::infinite;
using test::message_parts;
using test::not_a_number;

void refused(const cg::csr_view<double>& a, const message_parts& says, const matrix_options& o = {}, int n_pes = 1) {
  std::optional<machine> m = test::test_machine(n_pes);
  if (m) check_parts(failure_of<argument_error>([&] { cg::solver<double> s(*m, a, o); }), says);
}
void refused(const csr<double>& a, const message_parts& says, const matrix_options& o = {}, int n_pes = 1) {
  refused(a.view(), says, o, n_pes);
}

// Where entry (row, column) lies.
std::size_t place(const csr<double>& a, index_t row, index_t column) {
  for (index_t e = a.row_start[static_cast<std::size_t>(row)]; e < a.row_start[static_cast<std::size_t>(row) + 1]; ++e)
    if (a.column[static_cast<std::size_t>(e)] == column) return static_cast<std::size_t>(e);
  FAIL("no such entry");
  return 0;
}

TEST_CASE("matrices that are not square, or empty") {
  csr<double> a = good_matrix();
  a.columns = 13;
  refused(a, {"the matrix is 12 x 13; must be square"});
  refused(csr<double>{}, {"has no rows; must have at least 1"});
}

TEST_CASE("arrays that are not there") {
  const csr<double> a = good_matrix();
  auto v = a.view();
  v.row_start = nullptr;
  refused(v, {"null pointer"});
  v = a.view();
  v.column = nullptr;
  refused(v, {"null pointer"});
  v = a.view();
  v.value = nullptr;
  refused(v, {"null pointer"});
}

TEST_CASE("rows that are not in order") {
  csr<double> a = good_matrix();
  a.row_start[0] = 1;
  refused(a, {"the first row begins at entry 1; must be 0"});
  a = good_matrix();
  a.row_start[5] = a.row_start[4] - 2;
  refused(a, {"row 4 has -2 entries; row starts must not fall"});
}

TEST_CASE("columns that do not ascend, or are not there") {
  csr<double> a = good_matrix();
  const std::size_t e = place(a, 5, 5);
  std::swap(a.column[e], a.column[e + 1]);
  refused(a, {"row 5 has column 5 after column 6", "must ascend"});
  a = good_matrix();
  a.column[e] = a.column[e + 1];
  refused(a, {"row 5 has column 6 after column 6", "be there once"});
  for (const std::int32_t column : {-1, 12, std::numeric_limits<std::int32_t>::max()}) {
    a = good_matrix();
    a.column[e] = column;
    refused(a, {"row 5 has the column " + std::to_string(column) + " of a matrix with 12 columns"});
    refused(a, {"row 5 has the column"}, {.products_only = true});
  }
}

TEST_CASE("entries that are not finite") {
  for (const double value : {not_a_number, infinite, -infinite}) {
    csr<double> a = good_matrix();
    a.value[place(a, 7, 3)] = value;
    refused(a, {"entry (7, 3) is ", "all must be finite"});
    refused(a, {"entry (7, 3) is "}, {.products_only = true});
  }
}

TEST_CASE("the first of several failures is told, whatever threads do") {
  csr<double> a = cg::grid_2d<double>(200, 200);
  for (const index_t row : {39000, 20001, 333, 12000}) a.value[place(a, row, row)] = not_a_number;
  for (int times = 0; times < 5; ++times) refused(a, {"entry (333, 333) is nan"});
}

TEST_CASE("matrices that are not symmetric") {
  csr<double> a = good_matrix();
  a.value[place(a, 6, 2)] = -0.5;
  refused(a, {"not symmetric: entry (2, 6) is -1, entry (6, 2) is -0.5", "need a symmetric matrix"});
  test::loose_rows rows(3);
  for (index_t i = 0; i < 3; ++i) rows[static_cast<std::size_t>(i)][i] = 2;
  rows[2][0] = 1;
  refused(test::compressed<double>(rows), {"entry (2, 0) is 1, entry (0, 2) is not stored"});
  rows[0][2] = 1 + 1e-10;
  refused(test::compressed<double>(rows), {"not symmetric"});
  rows[0][2] = 1 + 1e-15;  // rounding errors of who made it
  std::optional<machine> m = test::test_machine(1);
  if (m) cg::solver<double>(*m, test::compressed<double>(rows).view());
  // A zero that is stored on one side only is a message that nobody waits for.
  rows[0].erase(2);
  rows[2][0] = 0;
  refused(test::compressed<double>(rows), {"entry (2, 0) is 0, entry (0, 2) is not stored"});
}

TEST_CASE("diagonals of matrices that are not positive definite") {
  for (const double value : {0.0, -4.0}) {
    csr<double> a = good_matrix();
    a.value[place(a, 9, 9)] = value;
    refused(a, {"the diagonal entry of row 9 is " + message(value), "all are positive"});
  }
  test::loose_rows rows(3);
  rows[0][0] = rows[2][2] = 1;
  test::set_pair(rows, 1, 2, 0.25);
  refused(test::compressed<double>(rows), {"the diagonal entry of row 1 is 0"});
  rows[1].clear();
  rows[2].erase(1);
  refused(test::compressed<double>(rows), {"row 1 has no entries", "remove the row and its column"});
}

TEST_CASE("blocks on the diagonal that are not positive definite") {
  test::loose_rows rows(4);
  for (index_t i = 0; i < 4; ++i) rows[static_cast<std::size_t>(i)][i] = 1;
  test::set_pair(rows, 2, 3, 2);
  refused(test::compressed<double>(rows), {"the block of 2 rows from row 2 on is not positive definite"},
          {.block_size = 2});
}

TEST_CASE("sizes of blocks") {
  for (const index_t size : {-1, 5, 7, 48, 96, 1000})
    refused(good_matrix(), {"block_size = " + std::to_string(size), "must be 0 for none, or 1, 2, 3"},
            {.block_size = size});
}

TEST_CASE("blocks of 3 x 3 for other numbers of rows") {
  refused(cg::grid_2d<double>(4, 4), {"sliced_3x3 for 16 rows", "multiple of 3"}, {.how = storage::sliced_3x3});
}

TEST_CASE("rows partitioned wrongly") {
  const auto partitioned = [](std::vector<index_t> first, const message_parts& says, const matrix_options& o = {}) {
    matrix_options given = o;
    given.first_rows = std::move(first);
    refused(good_matrix(), says, given, 2);
  };
  partitioned({0, 12}, {"first_rows has 2 entries; for 2 PEs it must have 3"});
  partitioned({0, 4, 8, 12}, {"first_rows has 4 entries"});
  partitioned({1, 6, 12}, {"first_rows goes from 1 to 12; must go from 0"});
  partitioned({0, 6, 11}, {"first_rows goes from 0 to 11", "the number of rows, 12"});
  partitioned({0, 6, 13}, {"first_rows goes from 0 to 13"});
  partitioned({0, -3, 12}, {"first_rows falls from 0 to -3 at PE 1"});
  partitioned({0, 15, 12}, {"first_rows falls from 15 to 12 at PE 2"});
  partitioned({0, 4, 12}, {"first_rows[1] = 4", "multiples of 3"}, {.how = storage::sliced_3x3});
  partitioned({0, 3, 12}, {"first_rows[1] = 3", "multiples of 6"}, {.how = storage::sliced_3x3, .block_size = 2});
}

}  // namespace
}  // namespace starling
