// Fault plans that make no sense, and machines that have no faults.
#include <cmath>
#include <limits>

#include "support/faults.hpp"

namespace starling::test::fault_plans_tests {
namespace {

void check_refused(const fault& f, std::initializer_list<std::string> parts) {
  machine m = machine::host(3);
  // The second of two, and the whole plan is refused.
  const fault_plan plan{{fail_allocation{}, f}};
  const std::string text = failure_of<argument_error>([&] { m.inject(plan); });
  check_parts(text, {message("fault 1 (", name(f), ")")});
  check_parts(text, parts);
  CHECK_NOTHROW((void)m.allocate<int>(1));
  check_parts(failure_of<argument_error>([&] { machine::host(3, {.faults = plan}); }), parts);
}

TEST_CASE("a PE or block that cannot be") {
  check_refused(drop_signal{.at = {.pe = 3}}, {"pe = 3; must be from 0 to 2"});
  check_refused(kill_block{.at = {.pe = -2}}, {"pe = -2"});
  check_refused(slow_pe{.at = {.block = -5}, .seconds = 1}, {"block = -5; must be at least 0"});
}

TEST_CASE("counts that cannot be") {
  check_refused(drop_signal{.at = {.nth = 0}}, {"nth = 0; calls are counted from 1"});
  check_refused(corrupt_epoch{.at = {.nth = -1}}, {"nth = -1"});
  check_refused(kill_block{.at = {.times = -1}}, {"times = -1; must be at least 1, or 0 for ever"});
  check_refused(fail_allocation{.nth = 0}, {"nth = 0"});
  check_refused(fail_allocation{.nth = 2, .times = std::numeric_limits<std::int64_t>::max()}, {"pass times = 0"});
  check_refused(drop_signal{.at = {.calls = static_cast<fault_calls>(17)}}, {"calls = 17"});
}

TEST_CASE("times that cannot be") {
  check_refused(delay_signal{}, {"seconds = 0; must be more than 0 and at most 3600"});
  check_refused(delay_signal{.seconds = -1}, {"seconds = -1"});
  check_refused(delay_signal{.seconds = 1e9}, {"seconds = 1e+09"});
  check_refused(slow_pe{.seconds = std::nan("")}, {"seconds = nan"});
  check_refused(slow_pe{.seconds = INFINITY}, {"seconds = inf"});
}

TEST_CASE("a corruption that changes nothing") { check_refused(corrupt_epoch{.flip = 0}, {"flip = 0"}); }

TEST_CASE("faults of GPUs") {
  if (!on_gpus()) return;
  auto m = test_machine(1);
  if (!m) return;
  check_parts(failure_of<unsupported_error>([&] { m->inject(plan_of(kill_block{})); }),
              {"virtual devices only", "machine::host(n)"});
  CHECK_NOTHROW(m->inject({}));
  CHECK(m->faults_fired().empty());
}

}  // namespace
}  // namespace starling::test::fault_plans_tests
