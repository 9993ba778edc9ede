// Symmetric memory that cannot be had, and arrays that are used wrongly by the host.
#include <limits>

#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::memory_tests {
namespace {

TEST_CASE("an array that does not fit") {
  auto m = test_machine(2, {.memory_bytes = 1 << 20});
  if (!m) return;
  const memory_info before = m->memory();
  const std::string text = failure_of<memory_error>([&] { (void)m->allocate<double>(index_t{1} << 46); });
  check_parts(text, {"512 TiB", "2 PEs", "largest free piece", "free other arrays", "use more devices"});
  CHECK(m->memory().in_use == before.in_use);
  CHECK(m->allocate<double>(1000).allocated());
}

TEST_CASE("an array that does not fit any more") {
  if (skipped_on_gpus("have as little memory as this test fills")) return;
  machine m = machine::host(3, {.memory_bytes = 1 << 20});
  auto a = m.allocate<char>(700 << 10);
  check_parts(failure_of<memory_error>([&] { (void)m.allocate<char>(400 << 10); }),
              {"400 KiB", "each of 3 PEs", "largest free piece is 324 KiB", "700 KiB of 1 MiB in use"});
  a.reset();
  CHECK(m.allocate<char>(400 << 10).allocated());
}

TEST_CASE("an array of a negative number of elements") {
  auto m = test_machine(1);
  if (!m) return;
  check_parts(failure_of<argument_error>([&] { (void)m->allocate<int>(-1); }),
              {"machine::allocate", "-1 elements of 4 bytes", "from 0 to"});
}

TEST_CASE("an array of more bytes than a number can hold") {
  auto m = test_machine(1);
  if (!m) return;
  const index_t n = std::numeric_limits<index_t>::max() / 4;
  check_parts(failure_of<argument_error>([&] { (void)m->allocate<double>(n); }),
              {message(n, " elements of 8 bytes"), message("from 0 to ", n / 2)});
  CHECK_THROWS_AS((void)m->allocate<char>(std::numeric_limits<index_t>::max()), memory_error);
}

TEST_CASE("the address on a PE that does not exist") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = m->allocate<int>(4);
  for (const int pe : {-1, 2})
    check_parts(failure_of<range_error>([&] { (void)a.on(pe); }),
                {message("PE ", pe, " of a machine with 2"), "numbered from 0"});
}

TEST_CASE("a shape of another number of elements than the array has") {
  auto m = test_machine(1);
  if (!m) return;
  auto a = m->allocate<int>(12);
  check_parts(failure_of<argument_error>([&] { (void)a.view(3, 5); }), {"15 elements", "of 12", "multiply"});
}

TEST_CASE("an array that was freed, moved from, or never made") {
  auto m = test_machine(1);
  if (!m) return;
  auto freed = m->allocate<int>(4);
  freed.reset();
  auto from = m->allocate<int>(4);
  const auto to = std::move(from);
  const symmetric_array<int> never;
  const auto check_refused = [](const symmetric_array<int>& a) {
    check_parts(failure_of<argument_error>([&] { (void)a.data(); }), {"freed or moved from", "allocate it again"});
    CHECK_THROWS_AS((void)a.on(0), argument_error);
    CHECK_THROWS_AS((void)a.view(2, 2), argument_error);
  };
  check_refused(freed);
  check_refused(from);
  check_refused(never);
  CHECK(to.allocated());
}

}  // namespace
}  // namespace starling::test::memory_tests
