// A solver of linear systems after allocations that fail and injected faults: it says what happened, nothing is lost,
// and it gives the right bits again.
#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "support/cg_oracle.hpp"
#include "support/faults.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::preconditioner;
using cg::solve_options;
using test::check_parts;
using test::failure_of;

using parts = std::initializer_list<std::string>;

TEST_CASE("any allocation of a solver that fails") {
  if (test::skipped_on_gpus("inject faults")) return;
  machine m = machine::host(2);
  test::surroundings around(m);
  const std::vector<double> b(12, 1.0);
  int failed = 0;
  for (int k = 1; k < 100; ++k) {
    m.inject(test::plan_of(fail_allocation{.nth = k}));
    try {
      cg::solver<double> s(m, cg::grid_2d<double>(4, 3).view());
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

TEST_CASE("any allocation that fails when a solve asks for more blocks") {
  if (test::skipped_on_gpus("inject faults")) return;
  const auto a = cg::grid_2d<double>(30, 20);
  const std::vector<double> b(600, 1.0);
  const auto solve = [&](cg::solver<double>& s, int blocks) {
    std::vector<double> x(600, 0.0);
    const auto done = s.solve(b.data(), x.data(), {.blocks = blocks});
    CHECK(done.why == cg::stop::converged);
    return x;
  };
  machine healthy = machine::host(2);
  cg::solver<double> right(healthy, a.view());
  const std::vector<double> wanted = solve(right, 4);
  int failed = 0;
  for (int k = 1; k < 100; ++k) {
    machine m = machine::host(2);
    cg::solver<double> s(m, a.view());
    solve(s, 2);
    m.inject(test::plan_of(fail_allocation{.nth = k}));
    try {
      solve(s, 4);
    } catch (const memory_error&) {
      ++failed;
    }
    if (m.faults_fired().empty()) break;
    CHECK(solve(s, 4) == wanted);
  }
  CHECK(failed >= 4);
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
