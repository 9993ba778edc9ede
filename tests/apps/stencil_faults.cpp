// Faults under the stencil library: the cells are lost, the machine is not, and the next run has the right bits.
#include <random>

#include "stencil/solver.hpp"
#include "support/faults.hpp"
#include "support/random.hpp"

namespace starling::stencil {
namespace {

using test::plan_of;

class stencil_fixture {
 public:
  stencil_fixture() : machine_(machine::host(4)), around_(machine_) {
    problem_.shape = {24, 40};
    problem_.coefficients = jacobi_coefficients<float>(2);
    test::random r(std::random_device{}());
    for (float& x : u_) x = static_cast<float>(r.real());
    machine healthy = machine::host(2);
    wanted_ = advanced(healthy);
  }

  // Packets: nothing makes up for one that is missing, as the next signal of a face can.
  static run_options options(double deadline) {
    return {.how = variant::cpu_free, .steps = 40, .packet_bytes = index_t{1} << 18, .deadline = deadline};
  }

  std::vector<float> advanced(machine& m) {
    solver<float> s(m, problem_);
    s.load(u_.data());
    s.advance(options(30));
    std::vector<float> got(u_.size());
    s.store(got.data());
    return got;
  }

  template <class Error>
  void check(const fault& f, double deadline, std::initializer_list<std::string> parts) {
    machine_.inject(plan_of(f));
    {
      solver<float> s(machine_, problem_);
      s.load(u_.data());
      test::check_parts(test::failure_of<Error>([&] { s.advance(options(deadline)); }), parts);
      CHECK(machine_.faults_fired().size() == 1);
      std::vector<float> got(u_.size());
      CHECK_THROWS_AS(s.store(got.data()), argument_error);
      s.load(u_.data());  // the fault has fired, so the same solver goes on
      s.advance(options(30));
      s.store(got.data());
      CHECK(got == wanted_);
    }
    around_.check_restored();
    CHECK(advanced(machine_) == wanted_);
    around_.remove_and_check_restored();
  }

 private:
  machine machine_;
  test::surroundings around_;
  problem<float> problem_;
  std::vector<float> u_ = std::vector<float>(24 * 40);
  std::vector<float> wanted_;
};

TEST_CASE_FIXTURE(stencil_fixture, "a dropped signal") {
  if (test::skipped_on_gpus("inject faults")) return;
  check<stall_error>(drop_signal{.at = {.pe = 1, .nth = 9}}, test::stall_deadline,
                     {"injected fault: drop_signal: PE 1 block ", "cpu_free_kernels.cpp:"});
}

TEST_CASE_FIXTURE(stencil_fixture, "a packet with another number") {
  if (test::skipped_on_gpus("inject faults")) return;
  check<stall_error>(corrupt_epoch{.at = {.pe = 2, .nth = 9}}, test::stall_deadline,
                     {"injected fault: corrupt_epoch: PE 2 block ", "cpu_free_kernels.cpp:"});
}

TEST_CASE_FIXTURE(stencil_fixture, "a block that is killed") {
  if (test::skipped_on_gpus("inject faults")) return;
  check<fault_error>(kill_block{.at = {.pe = 3, .nth = 50}}, 30,
                     {"injected fault: kill_block ended PE 3 block ", "halo_exchange.hpp:"});
}

TEST_CASE_FIXTURE(stencil_fixture, "a PE that is slow for the deadline") {
  if (test::skipped_on_gpus("inject faults")) return;
  check<stall_error>(delay_signal{.at = {.pe = 0, .nth = 30}, .seconds = 3000}, test::stall_deadline,
                     {"injected fault: delay_signal: PE 0 block "});
}

TEST_CASE("any allocation of a solver that fails") {
  if (test::skipped_on_gpus("inject faults")) return;
  machine m = machine::host(2);
  test::surroundings around(m);
  problem<float> p;
  p.shape = {24, 40};
  p.coefficients = jacobi_coefficients<float>(2);
  int failed = 0;
  for (int k = 1; k < 100; ++k) {
    m.inject(plan_of(fail_allocation{.nth = k}));
    try {
      solver<float> s(m, p);
    } catch (const memory_error& e) {
      test::check_parts(e.what(), {"injected fault"});
      ++failed;
    }
    if (m.faults_fired().empty()) break;
    CHECK(failed == k);
    around.check_restored();
  }
  CHECK(failed > 5);
  around.remove_and_check_restored();
}

}  // namespace
}  // namespace starling::stencil
