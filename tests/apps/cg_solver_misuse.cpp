// What a solver of linear systems refuses of a solve, and what it says of systems that it cannot solve.
#include <cmath>

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
using cg::preconditioner;
using cg::solve_options;
using cg::storage;
using test::check_parts;
using test::failure_of;
using test::good_matrix;
using test::infinite;
using test::message_parts;
using test::not_a_number;

// A good solver, and what it refuses.
struct solver_fixture {
  solver_fixture() {
    if (std::optional<machine> m = test::test_machine(1))
      s.emplace(*m, good_matrix().view(), matrix_options{.block_size = 2});
  }
  ~solver_fixture() {
    if (!s) return;  // nothing of it has cost the solver
    std::vector<double> x(12, 0.0);
    CHECK(s->solve(b.data(), x.data(), {.m = preconditioner::block_jacobi}).why == cg::stop::converged);
  }
  void refused(const solve_options& o, const message_parts& says) {
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
  extreme.assign(12, 1e-156);
  check_parts(failure_of<argument_error>([&] { s->solve(extreme.data(), x.data()); }),
              {"the residual is to be 3.46", "e-161", "scale the system up"});
}

TEST_CASE("block_jacobi without blocks") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  cg::solver<double> s(*m, good_matrix().view());
  std::vector<double> b(12, 1.0), x(12, 0.0);
  check_parts(failure_of<argument_error>([&] { s.solve(b.data(), x.data(), {.m = preconditioner::block_jacobi}); }),
              {"block_jacobi, but no blocks were kept", "block_size"});
}

TEST_CASE("a solve of what is there for products") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  cg::solver<double> s(*m, good_matrix().view(), {.products_only = true});
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
  cg::solver<double> s(m, good_matrix().view());
  std::vector<double> b(12, 1.0), x(12, 0.0);
  CHECK(s.solve(b.data(), x.data()).why == cg::stop::converged);
}

}  // namespace
}  // namespace starling
