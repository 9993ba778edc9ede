// What a solver of linear systems refuses, and what it says; and what it says of systems that it cannot solve.
#include <cmath>
#include <limits>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "support/cg_oracle.hpp"
#include "support/faults.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::matrix_options;
using cg::preconditioner;
using cg::solve_options;
using cg::storage;
using test::check_parts;
using test::failure_of;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// 12 rows, positive definite.
csr<double> good() { return cg::grid_2d<double>(4, 3); }

using parts = std::initializer_list<std::string>;

void refused(const cg::csr_view<double>& a, const parts& says, const matrix_options& o = {}, int n_pes = 1) {
  std::optional<machine> m = test::test_machine(n_pes);
  if (m) check_parts(failure_of<argument_error>([&] { cg::solver<double> s(*m, a, o); }), says);
}
void refused(const csr<double>& a, const parts& says, const matrix_options& o = {}, int n_pes = 1) {
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
  csr<double> a = good();
  a.columns = 13;
  refused(a, {"the matrix is 12 x 13; must be square"});
  refused(csr<double>{}, {"has no rows; must have at least 1"});
}

TEST_CASE("arrays that are not there") {
  const csr<double> a = good();
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
  csr<double> a = good();
  a.row_start[0] = 1;
  refused(a, {"the first row begins at entry 1; must be 0"});
  a = good();
  a.row_start[5] = a.row_start[4] - 2;
  refused(a, {"row 4 has -2 entries; row starts must not fall"});
}

TEST_CASE("columns that do not ascend, or are not there") {
  csr<double> a = good();
  const std::size_t e = place(a, 5, 5);
  std::swap(a.column[e], a.column[e + 1]);
  refused(a, {"row 5 has column 5 after column 6", "must ascend"});
  a = good();
  a.column[e] = a.column[e + 1];
  refused(a, {"row 5 has column 6 after column 6", "be there once"});
  for (const std::int32_t column : {-1, 12, std::numeric_limits<std::int32_t>::max()}) {
    a = good();
    a.column[e] = column;
    refused(a, {"row 5 has the column " + std::to_string(column) + " of a matrix with 12 columns"});
    refused(a, {"row 5 has the column"}, {.products_only = true});
  }
}

TEST_CASE("entries that are not finite") {
  for (const double value : {not_a_number, infinite, -infinite}) {
    csr<double> a = good();
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
  csr<double> a = good();
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
    csr<double> a = good();
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
    refused(good(), {"block_size = " + std::to_string(size), "must be 0 for none, or 1, 2, 3"}, {.block_size = size});
}

TEST_CASE("blocks of 3 x 3 for other numbers of rows") {
  refused(cg::grid_2d<double>(4, 4), {"sliced_3x3 for 16 rows", "multiple of 3"}, {.how = storage::sliced_3x3});
}

TEST_CASE("rows partitioned wrongly") {
  const auto partitioned = [](std::vector<index_t> first, const parts& says, const matrix_options& o = {}) {
    matrix_options given = o;
    given.first_rows = std::move(first);
    refused(good(), says, given, 2);
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

// A good solver, and what it refuses.
struct solver_fixture {
  solver_fixture() {
    if (std::optional<machine> m = test::test_machine(1)) s.emplace(*m, good().view(), matrix_options{.block_size = 2});
  }
  ~solver_fixture() {
    if (!s) return;  // nothing of it has cost the solver
    std::vector<double> x(12, 0.0);
    CHECK(s->solve(b.data(), x.data(), {.m = preconditioner::block_jacobi}).why == cg::stop::converged);
  }
  void refused(const solve_options& o, const parts& says) {
    std::vector<double> x(12, 0.25);
    if (s) check_parts(failure_of<argument_error>([&] { s->solve(b.data(), x.data(), o); }), says);
    CHECK(x == std::vector<double>(12, 0.25));
  }
  std::optional<cg::solver<double>> s;
  std::vector<double> b = std::vector<double>(12, 1.0);
};

TEST_CASE_FIXTURE(solver_fixture, "options out of range") {
  for (const double value : {-1e-9, not_a_number, infinite}) {
    refused({.rtol = value}, {"rtol = ", "must be finite and at least 0"});
    refused({.atol = value}, {"atol = ", "must be finite and at least 0"});
  }
  refused({.max_iterations = -1}, {"max_iterations = -1; must be at least 1"});
  refused({.fixed = true}, {"fixed with max_iterations = 0", "say how many iterations to do"});
  refused({.replace_every = -1}, {"replace_every = -1"});
  for (const int degree : {0, -1, 17})
    refused({.m = preconditioner::chebyshev, .degree = degree}, {"degree = " + std::to_string(degree), "1 to 16"});
  refused({.blocks = -1}, {"blocks = -1; must be at least 1"});
  for (const int threads : {-32, 1, 33, 544, 1024})
    refused({.threads = threads}, {"threads = " + std::to_string(threads), "multiple of 32", "512"});
  refused({.keep_bytes = -2}, {"keep_bytes = -2", "-1 to choose"});
  for (const double seconds : {-1.0, not_a_number}) refused({.deadline = seconds}, {"deadline = "});
}

TEST_CASE_FIXTURE(solver_fixture, "more blocks than fit") {
  if (!s) return;
  std::vector<double> x(12, 0.0);
  const auto text = failure_of<launch_error>([&] { s->solve(b.data(), x.data(), {.blocks = 100000}); });
  check_parts(text, {"blocks = 100000 per PE, but only ", "fit at once", "ask for fewer"});
}

TEST_CASE_FIXTURE(solver_fixture, "vectors that are not there, or not finite") {
  if (!s) return;
  std::vector<double> x(12, 0.0);
  const auto refusal = [&](const double* right, double* left) {
    return failure_of<argument_error>([&] { s->solve(right, left); });
  };
  check_parts(refusal(nullptr, x.data()), {"b is a null pointer"});
  check_parts(refusal(b.data(), nullptr), {"x is a null pointer"});
  for (const double value : {not_a_number, infinite}) {
    b[5] = value;
    check_parts(refusal(b.data(), x.data()), {"b[5] is ", "all must be finite"});
    b[5] = 1;
    x[11] = value;
    check_parts(refusal(b.data(), x.data()), {"x[11] is ", "all must be finite"});
    x[11] = 0;
  }
  check_parts(failure_of<argument_error>([&] { s->multiply(nullptr, x.data()); }), {"null pointer"});
  check_parts(failure_of<argument_error>([&] { s->multiply(x.data(), nullptr); }), {"null pointer"});
  check_parts(failure_of<argument_error>([&] { s->time_multiply(0, 1); }), {"at least 1"});
  check_parts(failure_of<argument_error>([&] { s->time_multiply(1, -1); }), {"at least 1"});
}

TEST_CASE_FIXTURE(solver_fixture, "right-hand sides whose norm is no number") {
  if (!s) return;
  std::vector<double> x(12, 0.0);
  std::vector<double> extreme(12, 1e200);
  check_parts(failure_of<argument_error>([&] { s->solve(extreme.data(), x.data()); }),
              {"the norm of b is inf", "scale the system down"});
  extreme.assign(12, 1e-200);
  check_parts(failure_of<argument_error>([&] { s->solve(extreme.data(), x.data()); }),
              {"the norm of b is 0", "scale the system up"});
}

TEST_CASE("block_jacobi without blocks") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  cg::solver<double> s(*m, good().view());
  std::vector<double> b(12, 1.0), x(12, 0.0);
  check_parts(failure_of<argument_error>([&] { s.solve(b.data(), x.data(), {.m = preconditioner::block_jacobi}); }),
              {"block_jacobi, but no blocks were kept", "block_size"});
}

TEST_CASE("a solve of what is there for products") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  cg::solver<double> s(*m, good().view(), {.products_only = true});
  std::vector<double> b(12, 1.0), x(12, 0.0);
  check_parts(failure_of<argument_error>([&] { s.solve(b.data(), x.data()); }), {"made for products only"});
}

TEST_CASE("names that are not known") {
  check_parts(failure_of<argument_error>([] { cg::method_named("cg"); }), {"\"cg\"", "standard, fused, pipelined"});
  check_parts(failure_of<argument_error>([] { cg::preconditioner_named(""); }), {"none, jacobi, block_jacobi"});
  check_parts(failure_of<argument_error>([] { cg::storage_named("csr"); }), {"sliced_3x3, compressed"});
  check_parts(failure_of<argument_error>([] { cg::control_named("gpu"); }), {"cpu_free, streams, graph"});
  check_parts(failure_of<argument_error>([] { cg::row_split_named("even"); }), {"nonzeros, rows"});
}

TEST_CASE("matrices that turn out to be indefinite") {
  // Eigenvalues 1 + 2 c for c from -1 to 1 and a positive diagonal: no look at the entries tells.
  test::loose_rows rows(40);
  for (index_t i = 0; i < 40; ++i) {
    rows[static_cast<std::size_t>(i)][i] = 1;
    if (i > 0) test::set_pair(rows, i - 1, i, 1);
  }
  const csr<double> a = test::compressed<double>(rows);
  for (const int n_pes : {1, 2}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    cg::solver<double> s(*m, a.view(), {.block_size = 1});
    for (const cg::method how : {cg::method::standard, cg::method::fused, cg::method::pipelined})
      for (const preconditioner p : {preconditioner::none, preconditioner::jacobi, preconditioner::block_jacobi})
        for (const bool fixed : {false, true}) {
          CAPTURE(std::string(name(how)));
          CAPTURE(std::string(name(p)));
          const test::vector b = test::random_vector(40, 1);
          test::vector x(40, 0.0);
          const auto r =
              s.solve(b.data(), x.data(), {.how = how, .m = p, .rtol = 1e-12, .max_iterations = 200, .fixed = fixed});
          CHECK(std::string(name(r.why)) == "not positive definite");
          CHECK(r.breakdown_value < 0);
          CHECK(r.iterations < 40);
          CHECK(r.history.size() == static_cast<std::size_t>(r.iterations) + 1);
          for (const double v : x) CHECK(std::isfinite(v));
        }
  }
}

TEST_CASE("numbers that become too large") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  csr<float> a = cg::grid_2d<float>(6, 5);
  for (float& v : a.value) v *= 1e-12f;
  cg::solver<float> s(*m, a.view());
  const std::vector<float> b(30, 1e30f);
  for (const cg::method how : {cg::method::standard, cg::method::fused, cg::method::pipelined}) {
    std::vector<float> x(30, 0.0f);
    const auto r = s.solve(b.data(), x.data(), {.how = how});
    CHECK(std::string(name(r.why)) == "not finite");
    CHECK(r.history.size() == static_cast<std::size_t>(r.iterations) + 1);
    // What is left of it does not get into the next solve.
    const std::vector<float> small(30, 1e-5f);
    std::fill(x.begin(), x.end(), 0.0f);
    CHECK(std::string(name(s.solve(small.data(), x.data(), {.how = how}).why)) == "converged");
  }
}

TEST_CASE("a matrix that does not fit") {
  if (test::skipped_on_gpus("have little memory")) return;
  machine m = machine::host(2, {.memory_bytes = std::size_t{1} << 20});
  const std::size_t before = m.memory().in_use;
  const csr<double> large = cg::grid_3d<double>(30, 30, 30);
  for (const storage how : {storage::sliced, storage::compressed})
    check_parts(failure_of<memory_error>([&] { cg::solver<double> s(m, large.view(), {.how = how}); }),
                {"asked for on each of 2 PEs", "free"});
  CHECK(m.memory().in_use == before);
  cg::solver<double> s(m, good().view());
  std::vector<double> b(12, 1.0), x(12, 0.0);
  CHECK(s.solve(b.data(), x.data()).why == cg::stop::converged);
}

TEST_CASE("any allocation of a solver that fails") {
  if (test::skipped_on_gpus("inject faults")) return;
  machine m = machine::host(2);
  test::surroundings around(m);
  const std::vector<double> b(12, 1.0);
  int failed = 0;
  for (int k = 1; k < 100; ++k) {
    m.inject(test::plan_of(fail_allocation{.nth = k}));
    try {
      cg::solver<double> s(m, good().view());
      std::vector<double> x(12, 0.0);
      s.solve(b.data(), x.data(), {.m = preconditioner::jacobi});
    } catch (const memory_error& e) {
      check_parts(e.what(), {"injected fault"});
      ++failed;
    }
    if (m.faults_fired().empty()) break;
    CHECK(failed == k);
    around.check_restored();
  }
  CHECK(failed > 10);
  around.remove_and_check_restored();
}

// After each fault the same solver gives the right bits again.
class faults_fixture {
 public:
  faults_fixture() : machine_(machine::host(3)), around_(machine_) {
    machine healthy = machine::host(3);
    cg::solver<double> s(healthy, a_.view());
    s.solve(b_.data(), wanted_.data(), with(30));
  }

  template <class Error>
  void check(const fault& f, double deadline, const parts& says) {
    machine_.inject(test::plan_of(f));
    {
      cg::solver<double> s(machine_, a_.view());
      test::vector x(120, 0.0);
      check_parts(failure_of<Error>([&] { s.solve(b_.data(), x.data(), with(deadline)); }), says);
      CHECK(x == test::vector(120, 0.0));  // the start is still there
      CHECK(machine_.faults_fired().size() == 1);
      for (int times = 0; times < 2; ++times) {
        std::fill(x.begin(), x.end(), 0.0);
        CHECK(s.solve(b_.data(), x.data(), with(30)).why == cg::stop::converged);
        CHECK(x == wanted_);
      }
    }
    around_.check_restored();
    around_.remove_and_check_restored();
  }

 private:
  static solve_options with(double deadline) {
    return {.how = cg::method::pipelined, .m = preconditioner::jacobi, .rtol = 1e-9, .blocks = 3, .deadline = deadline};
  }

  machine machine_;
  test::surroundings around_;
  const csr<double> a_ = cg::grid_2d<double>(12, 10);
  const test::vector b_ = test::random_vector(120, 1);
  test::vector wanted_ = test::vector(120, 0.0);
};

TEST_CASE_FIXTURE(faults_fixture, "a dropped signal") {
  if (test::skipped_on_gpus("inject faults")) return;
  check<stall_error>(drop_signal{.at = {.pe = 1, .nth = 40}}, test::stall_deadline,
                     {"injected fault: drop_signal: PE 1 block ", "cg/"});
}

TEST_CASE_FIXTURE(faults_fixture, "packets with another number") {
  if (test::skipped_on_gpus("inject faults")) return;
  for (const int nth : {1, 9, 30, 77, 200})
    check<stall_error>(corrupt_epoch{.at = {.pe = nth % 3, .nth = nth}}, test::stall_deadline,
                       {"injected fault: corrupt_epoch: PE ", "cg/"});
}

TEST_CASE_FIXTURE(faults_fixture, "a block that is killed") {
  if (test::skipped_on_gpus("inject faults")) return;
  check<fault_error>(kill_block{.at = {.pe = 2, .nth = 50}}, 30, {"injected fault: kill_block ended PE 2 block "});
}

TEST_CASE_FIXTURE(faults_fixture, "a PE that is slow for the deadline") {
  if (test::skipped_on_gpus("inject faults")) return;
  check<stall_error>(delay_signal{.at = {.pe = 0, .nth = 30}, .seconds = 3000}, test::stall_deadline,
                     {"injected fault: delay_signal: PE 0 block "});
}

}  // namespace
}  // namespace starling
