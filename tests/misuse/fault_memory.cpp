// Allocations that fail on purpose.
#include "support/faults.hpp"

namespace starling::test::fault_memory_tests {
namespace {

TEST_CASE("the k-th allocation fails, says how much was asked for, and takes nothing") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(4);
  surroundings around(m);
  m.inject(plan_of(fail_allocation{.nth = 3}));
  {
    const auto a = m.allocate<double>(10);
    const auto b = m.allocate<double>(10);
    const std::size_t before = m.memory().in_use;
    check_parts(failure_of<memory_error>([&] { (void)m.allocate<double>(3000); }),
                {"23.44 KiB asked for on each of 4 PEs", "injected fault", "fail_allocation", "machine::inject({})"});
    CHECK(m.memory().in_use == before);
    CHECK_NOTHROW((void)m.allocate<double>(3000));
  }
  REQUIRE(m.faults_fired().size() == 1);
  CHECK(m.faults_fired()[0].text() == "fail_allocation: allocate");
  CHECK(m.faults_fired()[0].pe == any_pe);
  around.remove_and_check_restored();
}

TEST_CASE("whichever allocation of a program fails, none leaks") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(2);
  surroundings around(m);
  for (int k = 1; k <= 4; ++k) {
    m.inject(plan_of(fail_allocation{.nth = k}));
    check_parts(failure_of<memory_error>([&] { ring r(m, 3); }), {"asked for on each of 2 PEs", "injected fault"});
    around.check_restored();
  }
  around.remove_and_check_restored();
}

TEST_CASE("a plan of a new machine is in force from its first allocation on, until it is replaced") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(2, {.faults = plan_of(fail_allocation{.times = 0})});
  for (int again = 0; again < 3; ++again) CHECK_THROWS_AS((void)m.allocate<int>(1), memory_error);
  CHECK(m.faults_fired()[0].times == 3);
  m.inject(plan_of(fail_allocation{.nth = 2}));
  CHECK(m.faults_fired().empty());
  CHECK_NOTHROW((void)m.allocate<int>(1));
  CHECK_THROWS_AS((void)m.allocate<int>(1), memory_error);
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::fault_memory_tests
