// Resident launches that do not fit, that meet other PEs, or whose blocks do not all come.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::resident_launch_tests {
namespace {

constexpr launch_options resident{.resident = true};

TEST_CASE("more blocks than fit") {
  auto m = test_machine(1, {.max_blocks = 5});
  if (!m) return;
  auto k = STARLING_KERNEL(block & b) { b.sync_pe(); };
  stream s = m->new_stream(0);
  const int fit = m->blocks_that_fit(k, resident);
  check_parts(failure_of<launch_error>([&] { s.launch(fit + 1, k, resident); }),
              {"stream::launch", message(fit + 1), message(fit), "fewer blocks"});
  s.launch(fit, k, resident);
  s.synchronize();
  check_usable(*m);
}

TEST_CASE("sync_all and all_reduce in a resident launch") {
  auto m = test_machine(2);
  if (!m) return;
  stream s = m->new_stream(1);
  auto meet = STARLING_KERNEL(block & b) {
    b.sync_pe();
    b.sync_all();
  };
  s.launch(2, meet, resident);
  check_parts(failure_of<argument_error>([&] { s.synchronize(); }), {"sync_all", "one PE", "machine::run"});
  auto sum = STARLING_KERNEL(block & b) { (void)b.all_reduce(1, plus{}); };
  s.launch(2, sum, resident);
  check_parts(failure_of<argument_error>([&] { s.synchronize(); }), {"all_reduce", "one PE", "machine::run"});
  check_usable(*m);
}

TEST_CASE("a block that does not come to sync_pe") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  auto k = STARLING_KERNEL(block & b) {
    if (b.index() != 1) b.sync_pe();
  };
  for (int again = 0; again < 2; ++again) {
    s.launch(3, k, {.deadline = 0.05, .resident = true});
    CHECK_THROWS_AS(s.synchronize(), stall_error);
    auto right = STARLING_KERNEL(block & b) { b.sync_pe(); };
    s.launch(3, right, resident);
    s.synchronize();
  }
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::resident_launch_tests
