// Waits for signals and packets that never come: who waited for what, where, and whether in a cycle.
#include "support/environment_guard.hpp"
#include "support/levels.hpp"
#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::stall_wait_tests {
namespace {

constexpr const char* file = "misuse/stall_wait_kernels.cpp";
const launch_options soon{.deadline = stall_deadline};

TEST_CASE("a signal that is never raised: no cycle") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  role_plan roles;
  roles.add("other", 1);
  const role waiting = roles.add("waiting", 1);
  const int line = __LINE__ + 5;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() != 1 || b.role() != waiting) return;
    b.signal_set(s, 2, 1);
    b.sync();
    b.wait(s, 3, 0);
  };
  const auto e = stall_of([&] { m->run(roles, k, soon); });
  REQUIRE(e);
  CHECK(e->reports().size() == 4);
  CHECK(expired(*e) == 1);
  CHECK(report_of(*e, 1, 1).state == block_state::expired);
  check_wait(report_of(*e, 1, 1), {operation::wait, waiting, 0, compare::ge, 3, 2, file, line});
  CHECK(e->cycle().empty());
  check_parts(e->what(), {"deadline of 0.1 s", "first: PE 1 block 1 (waiting): deadline passed in wait at ",
                          message(file, ":", line), ">= 3 wanted, 2 seen, from PE 0", "no wait-for cycle", "next:"});
  check_usable(*m);
}

TEST_CASE("the other blocks of a stalled program are reported as finished") {
  if (skipped_on_gpus("tell finished blocks from running ones")) return;
  machine m = machine::host(2);
  auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0 && b.index() == 0) b.wait(s, 1, 1);
  };
  const auto e = stall_of([&] { m.run(2, k, soon); });
  REQUIRE(e);
  for (const block_report& r : e->reports())
    CHECK(r.state == (r.pe == 0 && r.block == 0 ? block_state::expired : block_state::finished));
  check_parts(e->what(), {"PE 0 block 1 (all): finished", "PE 1 blocks 0, 1 (all): finished"});
}

TEST_CASE("on a GPU a block that comes to a wait after the end is late, and in no cycle") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  constexpr auto computes_ns = static_cast<std::uint64_t>(4e9 * stall_deadline);
  auto k = STARLING_KERNEL(block & b) {
    for (const std::uint64_t start = target::now_ns(); b.pe() == 1 && target::now_ns() - start < computes_ns;) {
    }
    b.wait(s, 1, 1 - b.pe());
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  CHECK(report_of(*e, 0, 0).state == block_state::expired);
  if (m->kind() == machine_kind::cuda) {
    CHECK(report_of(*e, 1, 0).state == block_state::late);
    CHECK(cycle_of(*e).empty());
  }
  check_usable(*m);
}

TEST_CASE("two PEs that wait for each other: a cycle") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    b.wait(s, compare::eq, 7, 1 - b.pe());
    b.signal_set(s, 7, 1 - b.pe());
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  CHECK(expired(*e) >= 1);
  for (int pe = 0; pe < 2; ++pe)
    check_wait(report_of(*e, pe, 0), {operation::wait, 0, 1 - pe, compare::eq, 7, 0, file, line});
  CHECK(cycle_of(*e) == std::vector<block_id>{{0, 0}, {1, 0}});
  check_parts(e->what(), {"wait-for cycle: PE ", "== 7 wanted, 0 seen, from PE 1"});
  check_usable(*m);
}

TEST_CASE("a ring of four PEs of which each waits before it sends: a cycle of four") {
  auto m = test_machine(4);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  auto k = STARLING_KERNEL(block & b) {
    b.wait(s, 1, (b.pe() + 1) % 4);
    b.signal_set(s, 1, (b.pe() + 3) % 4);
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  CHECK(cycle_of(*e) == std::vector<block_id>{{0, 0}, {1, 0}, {2, 0}, {3, 0}});
  check_usable(*m);
}

TEST_CASE("wait_each tells which of its signals has not come, and from whom") {
  auto m = test_machine(3);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 3);
  const sym<signal> s = signals.data();
  const int line = __LINE__ + 4;
  auto k = STARLING_KERNEL(block & b) {
    for (int to = 0; to < 3; ++to)
      if (b.pe() != 2) b.signal_set(s + b.pe(), 4, to);
    if (b.pe() == 0) b.wait_each(3, [=](int i) { return awaited_signal{s + i, i}; }, 4);
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::wait, 0, 2, compare::ge, 4, 0, file, line});
  check_parts(e->what(), {">= 4 wanted, 0 seen, from PE 2"});
  check_usable(*m);
}

TEST_CASE("every comparison can stall, and is reported") {
  auto m = test_machine(1);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  struct never {
    compare how;
    std::uint64_t value;
  };
  // With the signal at 5.
  for (const never n : {never{compare::eq, 6},
                        {compare::ne, 5},
                        {compare::gt, 5},
                        {compare::ge, 6},
                        {compare::lt, 5},
                        {compare::le, 4}}) {
    const compare how = n.how;
    const std::uint64_t value = n.value;
    const int line = __LINE__ + 4;
    auto k = STARLING_KERNEL(block & b) {
      b.signal_set(s, 5, 0);
      b.sync();
      b.wait(s, how, value);
    };
    const auto e = stall_of([&] { m->run(1, k, {.deadline = 0.03}); });
    REQUIRE(e);
    check_wait(report_of(*e, 0, 0), {operation::wait, 0, any_pe, how, value, 5, file, line});
    check_parts(e->what(), {message(symbol(how), " ", value, " wanted, 5 seen"), "pass the PE as last argument"});
  }
  check_usable(*m);
}

TEST_CASE("waits of a warp and of a thread") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  for (const level l : {level::warp, level::thread}) {
    CAPTURE(l);
    const int line = __LINE__ + 3;
    auto k = STARLING_KERNEL(block & b) {
      at_level(b, l, [&](const auto& g) {
        if (b.pe() == 0) g.wait(s, compare::gt, 4, 1);
      });
    };
    const auto e = stall_of([&] { m->run(1, k, soon); });
    REQUIRE(e);
    check_wait(report_of(*e, 0, 0), {operation::wait, 0, 1, compare::gt, 4, 0, file, line});
  }
  check_usable(*m);
}

TEST_CASE("wait_all: the signal that is missing is the one reported") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 300);
  const sym<signal> s = signals.data();
  std::uint64_t first = 0;
  for (const index_t missing : {0, 5, 299}) {
    CAPTURE(missing);
    const int line = __LINE__ + 8;
    auto k = STARLING_KERNEL(block & b) {
      if (b.pe() == 1) return;
      const thread self = b.thread();
      b.for_each(300, [&](index_t i) {
        if (i != missing) self.signal_set(s + i, 2, 0);
      });
      b.sync();
      b.wait_all(s, 300, 2, 1);
    };
    for (int pe = 0; pe < 2; ++pe) m->fill(signals.on(pe), 0, 300 * sizeof(signal));
    const auto e = stall_of([&] { m->run(1, k, soon); });
    REQUIRE(e);
    const block_report r = report_of(*e, 0, 0);
    check_wait(r, {operation::wait, 0, 1, compare::ge, 2, 0, file, line});
    if (missing == 0) first = r.signal_offset;
    CHECK(r.signal_offset == first + static_cast<std::uint64_t>(missing) * sizeof(signal));
  }
  check_usable(*m);
}

TEST_CASE("a packet that never comes") {
  auto m = test_machine(2);
  if (!m) return;
  auto boxes = zeroed<packet>(*m, 1);
  const sym<packet> x = boxes.data();
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) (void)b.take_packet<int>(x, 9, 1);
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::wait, 0, 1, compare::eq, 9, 0, file, line});
  check_usable(*m);
}

TEST_CASE("the deadline of the environment applies where the launch has none") {
  const environment_guard deadline("STARLING_DEADLINE", "0.15");
  auto m = test_machine(1);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  auto k = STARLING_KERNEL(block & b) { b.wait(s, 1); };
  const auto e = stall_of([&] { m->run(1, k); });
  REQUIRE(e);
  check_parts(e->what(), {"deadline of 0.15 s"});
}

}  // namespace
}  // namespace starling::test::stall_wait_tests
