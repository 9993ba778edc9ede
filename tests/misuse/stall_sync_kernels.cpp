// Barriers that not all blocks come to.
#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::stall_sync_tests {
namespace {

constexpr const char* file = "misuse/stall_sync_kernels.cpp";
const launch_options soon{.deadline = stall_deadline};

TEST_CASE("sync_pe without a block that has left: no cycle") {
  auto m = test_machine(2);
  if (!m) return;
  const int line = __LINE__ + 4;
  auto k = STARLING_KERNEL(block & b) {
    b.sync_pe();
    if (b.pe() == 0 || b.index() == 2) return;
    b.sync_pe();
  };
  const auto e = stall_of([&] { m->run(3, k, soon); });
  REQUIRE(e);
  CHECK(expired(*e) >= 1);
  for (int i = 0; i < 2; ++i)
    check_wait(report_of(*e, 1, i), {operation::sync_pe, 0, 1, compare::ge, 6, 5, file, line});
  CHECK(e->cycle().empty());
  check_parts(e->what(), {"in sync_pe at ", message(file, ":", line), ">= 6 wanted, 5 seen", "no wait-for cycle"});
  check_usable(*m);
}

TEST_CASE("sync_pe against a wait within the PE: a cycle") {
  auto m = test_machine(1);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  role_plan roles;
  const role syncs = roles.add("syncs", 1);
  const role waits = roles.add("waits", 1);
  const int line_sync = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.role() == waits) b.wait(s, 1, 0);
    b.sync_pe();
    if (b.role() == syncs) b.signal_set(s, 1, 0);
  };
  const auto e = stall_of([&] { m->run(roles, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::sync_pe, syncs, 0, compare::ge, 2, 1, file, line_sync});
  check_wait(report_of(*e, 0, 1), {operation::wait, waits, 0, compare::ge, 1, 0, file, line_sync - 1});
  CHECK(cycle_of(*e) == std::vector<block_id>{{0, 0}, {0, 1}});
  check_parts(e->what(), {"(syncs)", "(waits)", "wait-for cycle: PE 0 block "});
  check_usable(*m);
}

TEST_CASE("sync_all without a PE that has left: no cycle") {
  auto m = test_machine(3);
  if (!m) return;
  const int line = __LINE__ + 4;
  auto k = STARLING_KERNEL(block & b) {
    b.sync_all();
    if (b.pe() == 1) return;
    b.sync_all();
  };
  const auto e = stall_of([&] { m->run(2, k, soon); });
  REQUIRE(e);
  for (const int pe : {0, 2}) {
    const block_report leader = report_of(*e, pe, 0);
    check_wait(leader, {operation::sync_all, 0, 1, compare::eq, 2, 0, file, line});
    check_wait(report_of(*e, pe, 1), {operation::sync_all, 0, pe, compare::ge, 2, 1, file, line});
  }
  CHECK(e->cycle().empty());
  check_parts(e->what(), {"in sync_all at ", "from PE 1", "no wait-for cycle"});
  check_usable(*m);
}

TEST_CASE("sync_all without a block of the own PE: no cycle") {
  auto m = test_machine(2);
  if (!m) return;
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0 && b.index() == 1) return;
    b.sync_all();
  };
  const auto e = stall_of([&] { m->run(2, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::sync_all, 0, 0, compare::ge, 2, 1, file, line});
  check_wait(report_of(*e, 1, 0), {operation::sync_all, 0, 0, compare::eq, 1, 0, file, line});
  CHECK(e->cycle().empty());
  check_usable(*m);
}

TEST_CASE("sync_all against a wait on another PE: a cycle") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 1) b.wait(s, 1, 0);
    b.sync_all();
    b.signal_set(s, 1, 1);
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::sync_all, 0, 1, compare::eq, 1, 0, file, line});
  check_wait(report_of(*e, 1, 0), {operation::wait, 0, 0, compare::ge, 1, 0, file, line - 1});
  CHECK(cycle_of(*e) == std::vector<block_id>{{0, 0}, {1, 0}});
  check_usable(*m);
}

TEST_CASE("barrier_all is reported as the sync_all it contains, at the caller's line") {
  auto m = test_machine(2);
  if (!m) return;
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) b.barrier_all();
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::sync_all, 0, 1, compare::eq, 1, 0, file, line});
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::stall_sync_tests
