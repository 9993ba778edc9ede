// Residency: as many blocks as fit do run together, and one more is refused with the numbers before anything runs.
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::residency_tests {
namespace {

struct meet_and_count {
  sym<int> x;
  STARLING_HD void operator()(block& b) const {
    b.sync_pe();
    b.atomic_fetch_add(x, 1, b.pe());
  }
};

TEST_CASE("as many blocks as fit meet at a barrier") {
  auto m = test_machine(2, {.max_blocks = 40});
  if (!m) return;
  auto count = zeroed<int>(*m, 1);
  const meet_and_count k{count.data()};
  const int fit = m->blocks_that_fit(k);
  CHECK(fit >= 40);
  m->run(fit, k);
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, count, pe)[0] == fit);
}

TEST_CASE("one block more than fit is refused with both numbers, and nothing has run") {
  auto m = test_machine(2, {.max_blocks = 6});
  if (!m) return;
  auto count = zeroed<int>(*m, 1);
  const meet_and_count k{count.data()};
  const int fit = m->blocks_that_fit(k);
  const std::string text = failure_of<launch_error>([&] { m->run(fit + 1, k); });
  check_parts(text, {std::to_string(fit + 1), std::to_string(fit), "ask for"});
  if (!on_gpus()) check_parts(text, {"7 blocks per PE", "6 at once", "STARLING_HOST_BLOCKS"});
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, count, pe)[0] == 0);
  m->run(fit, k);
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, count, pe)[0] == fit);
}

TEST_CASE("programs that fit one by one but not together are refused") {
  auto m = test_machine(1, {.max_blocks = 8});
  if (!m) return;
  auto count = zeroed<int>(*m, 1);
  const meet_and_count k{count.data()};
  const int fit = m->blocks_that_fit(k);
  role_plan most;
  most.add("most", fit);
  role_plan some;
  some.add("some", fit / 2 + 1);
  const program all{most, make_kernel(k), {}};
  const program half{some, make_kernel(k), {}};
  CHECK_THROWS_AS(m->run({all, half}), launch_error);
  CHECK_THROWS_AS(m->run({half, half}), launch_error);
  CHECK(read(*m, count, 0)[0] == 0);
  m->run({all});
  m->run({half});
  CHECK(read(*m, count, 0)[0] == fit + fit / 2 + 1);
}

TEST_CASE("a plain launch may have more blocks than fit") {
  auto m = test_machine(1, {.max_blocks = 2});
  if (!m) return;
  auto count = zeroed<int>(*m, 1);
  const sym<int> x = count.data();
  auto k = STARLING_KERNEL(block & b) { b.atomic_fetch_add(x, 1, b.pe()); };
  stream s = m->new_stream(0);
  s.launch(5000, k);
  s.synchronize();
  CHECK(read(*m, count, 0)[0] == 5000);
}

}  // namespace
}  // namespace starling::test::residency_tests
