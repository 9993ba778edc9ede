// all_reduce and broadcast that not all blocks come to.
#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::stall_reduce_tests {
namespace {

constexpr const char* file = "misuse/stall_reduce_kernels.cpp";
const launch_options soon{.deadline = stall_deadline};

TEST_CASE("all_reduce without a PE that has left: no cycle") {
  auto m = test_machine(2);
  if (!m) return;
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) return;
    (void)b.all_reduce(1.5, plus{});
  };
  const auto e = stall_of([&] { m->run(2, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 1, 0), {operation::all_reduce, 0, 0, compare::eq, 1, 0, file, line});
  check_wait(report_of(*e, 1, 1), {operation::all_reduce, 0, 1, compare::ge, 1, 0, file, line});
  CHECK(e->cycle().empty());
  check_parts(e->what(), {"in all_reduce at ", message(file, ":", line), "from PE 0", "no wait-for cycle"});
  check_usable(*m);
}

TEST_CASE("all_reduce without a block of the PE: no cycle") {
  auto m = test_machine(1);
  if (!m) return;
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.index() == 3) return;
    (void)b.all_reduce(b.index(), plus{});
  };
  const auto e = stall_of([&] { m->run(4, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::all_reduce, 0, 0, compare::ge, 4, 3, file, line});
  for (int i = 1; i < 3; ++i)
    check_wait(report_of(*e, 0, i), {operation::all_reduce, 0, 0, compare::ge, 1, 0, file, line});
  CHECK(e->cycle().empty());
  check_usable(*m);
}

TEST_CASE("all_reduce against a wait on another PE: a cycle through a block that is not the first") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 1 && b.index() == 1) b.wait(s, 1, 0);
    (void)b.all_reduce(1, plus{});
    if (b.pe() == 0) b.signal_set(s, 1, 1);
  };
  const auto e = stall_of([&] { m->run(2, k, soon); });
  REQUIRE(e);
  // PE 0 waits for PE 1's contribution, its block 0 for its block 1, which waits for PE 0.
  check_wait(report_of(*e, 0, 0), {operation::all_reduce, 0, 1, compare::eq, 1, 0, file, line});
  check_wait(report_of(*e, 1, 0), {operation::all_reduce, 0, 1, compare::ge, 2, 1, file, line});
  check_wait(report_of(*e, 1, 1), {operation::wait, 0, 0, compare::ge, 1, 0, file, line - 1});
  const std::vector<block_id> cycle = cycle_of(*e);
  REQUIRE(cycle.size() >= 3);
  CHECK(cycle.front() == block_id{0, 0});
  CHECK(std::find(cycle.begin(), cycle.end(), block_id{1, 0}) != cycle.end());
  CHECK(std::find(cycle.begin(), cycle.end(), block_id{1, 1}) != cycle.end());
  check_usable(*m);
}

TEST_CASE("a loop of reductions ends with the first that stalls") {
  auto m = test_machine(2);
  if (!m) return;
  auto after = zeroed<int>(*m, 1);
  const sym<int> x = after.data();
  auto k = STARLING_KERNEL(block & b) {
    for (int round = 0; round < 1000000; ++round) {
      if (b.pe() == 1 && round == 3) return;
      (void)b.all_reduce(round, plus{});
    }
    *x.on(b.pe()) = 1;
  };
  const auto e = stall_of([&] { m->run(2, k, soon); });
  REQUIRE(e);
  const block_report first = report_of(*e, 0, 0);
  CHECK(first.state != block_state::running);
  CHECK(std::string(name(first.op)) == "all_reduce");
  CHECK(first.wanted == 4);
  CHECK(read(*m, after, 0)[0] == 0);
  check_usable(*m);
}

TEST_CASE("broadcast without its root: no cycle") {
  auto m = test_machine(3);
  if (!m) return;
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 2) return;
    (void)b.broadcast(b.pe(), 2);
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  for (int pe = 0; pe < 2; ++pe)
    check_wait(report_of(*e, pe, 0), {operation::broadcast, 0, 2, compare::eq, 1, 0, file, line});
  CHECK(e->cycle().empty());
  check_parts(e->what(), {"in broadcast at ", "from PE 2"});
  check_usable(*m);
}

TEST_CASE("broadcast against a wait of its root: a cycle") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 1) b.wait(s, 1, 0);
    if (b.broadcast(b.pe(), 1) == 1) b.signal_set(s, 1, 1);
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::broadcast, 0, 1, compare::eq, 1, 0, file, line});
  check_wait(report_of(*e, 1, 0), {operation::wait, 0, 0, compare::ge, 1, 0, file, line - 1});
  CHECK(cycle_of(*e) == std::vector<block_id>{{0, 0}, {1, 0}});
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::stall_reduce_tests
