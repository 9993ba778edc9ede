// Kernels that are not built for machines of several hosts: refused there by name.
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::network_tests {

struct knows_no_cards {
  sym<int> x;
  STARLING_HD void operator()(block& b) const { x.on(b.pe())[0] = 1; }
};

namespace {

TEST_CASE("a kernel without entries for several hosts is refused by name") {
  if (!on_gpus()) return;
  auto m = test_machine(2, {.hosts = {0, 1}});
  if (!m) return;
  auto x = zeroed<int>(*m, 1);
  const knows_no_cards k{x.data()};
  check_parts(failure_of<unsupported_error>([&] { m->run(1, k); }), {"knows_no_cards", "NETWORK"});
  auto alone = test_machine(2, {.hosts = {0, 0}});
  auto y = zeroed<int>(*alone, 1);
  alone->run(1, knows_no_cards{y.data()});
  CHECK(read(*alone, y, 1)[0] == 1);
}

}  // namespace
}  // namespace starling::test::network_tests
