// machine::pin: memory that was pinned, memory of the machine's own, and nothing at all.
#include <doctest/doctest.h>

#include <vector>

#include "starling/base/error.hpp"
#include "support/test_machine.hpp"

namespace starling::test::pinned_memory_tests {
namespace {

TEST_CASE("pinned memory is copied from in a stream's order, and is ordinary memory again afterwards") {
  auto m = test_machine(1);
  if (!m) return;
  std::vector<double> values(1000, 1.0);
  const std::size_t bytes = values.size() * sizeof(double);
  auto there = m->allocate<double>(1000);
  stream s = m->new_stream(0);
  {
    const pinned_memory pin = m->pin(values.data(), bytes);
    REQUIRE(pin.held());
    s.call([&values] { values.assign(values.size(), 2.0); });
    s.copy(there.on(0), values.data(), bytes);
    s.call([&values] { values.assign(values.size(), 3.0); });
    s.synchronize();
  }
  m->copy(values.data(), there.on(0), bytes);
  CHECK(values == std::vector<double>(1000, 2.0));
}

TEST_CASE("what is pinned already is held, and stays with its first owner") {
  auto m = test_machine(1);
  if (!m) return;
  std::vector<double> values(100);
  const pinned_memory first = m->pin(values.data(), 800);
  {
    const pinned_memory second = m->pin(values.data(), 800);
    CHECK(second.held());
    CHECK(!second.owns());
  }
  const local_memory own = m->allocate_on(host_place, 4096);
  const pinned_memory third = m->pin(own.data(), 4096);
  CHECK(third.held());
  CHECK(!third.owns());
}

TEST_CASE("nothing to pin") {
  auto m = test_machine(1);
  if (!m) return;
  double value = 0;
  CHECK_THROWS_WITH_AS(m->pin(nullptr, 8), doctest::Contains("8 bytes at 0"), argument_error);
  CHECK_THROWS_WITH_AS(m->pin(&value, 0), doctest::Contains("0 bytes"), argument_error);
}

}  // namespace
}  // namespace starling::test::pinned_memory_tests
