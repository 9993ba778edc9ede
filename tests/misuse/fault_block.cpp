// Blocks that are ended, and PEs that are slowed down on purpose.
#include "support/faults.hpp"

namespace starling::test::fault_block_tests {
namespace {

constexpr double patient = 30;

TEST_CASE("a killed block ends the program with an error that names it and the call") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(4);
  surroundings around(m);
  {
    ring r(m, 20);
    m.inject(plan_of(kill_block{.at = {.pe = 3, .nth = 7}}));  // of 4 calls a round: the second wait of round 2
    check_parts(failure_of<fault_error>([&] { r.run(patient); }),
                {"injected fault: kill_block", "PE 3 block 0 (ring)", "in wait at ring.cpp:20", "machine::inject({})"});
    REQUIRE(m.faults_fired().size() == 1);
    CHECK(m.faults_fired()[0].text() == "kill_block: PE 3 block 0, wait at ring.cpp:20 of PE 3");
  }
  around.check_restored();
  {
    sums s(m, 20);
    m.inject(plan_of(kill_block{.at = {.pe = 0, .block = 1, .nth = 12}}));
    check_parts(failure_of<fault_error>([&] { s.run(patient); }), {"PE 0 block 1 (second)", "at sums.cpp:10"});
  }
  around.check_restored();
  {
    halo h(m, 20);
    m.inject(plan_of(kill_block{.at = {.nth = 30}}));
    check_parts(failure_of<fault_error>([&] { h.run(patient); }),
                {"injected fault: kill_block ended PE ", "halo.cpp:"});
  }
  around.remove_and_check_restored();
}

TEST_CASE("a kernel that catches everything of std does not survive") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(2);
  surroundings around(m);
  {
    auto after = zeroed<int>(m, 1);
    const sym<int> x = after.data();
    m.inject(plan_of(kill_block{.at = {.pe = 1}}));
    const std::string text = failure_of<fault_error>([&] {
      m.run(1, [=](block& b) {
        try {
          b.quiet();
        } catch (const std::exception&) {
        }
        *x.on(b.pe()) = 1;
      });
    });
    check_parts(text, {"PE 1 block 0 (all) in a fence or quiet"});
    CHECK(read(m, after, 0)[0] == 1);
    CHECK(read(m, after, 1)[0] == 0);
  }
  around.check_restored();
}

TEST_CASE("a block of a plain launch is killed, and synchronize says so") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(2);
  check_usable(m);
  auto count = zeroed<int>(m, 1);
  const sym<int> x = count.data();
  stream s = m.new_stream(1);
  m.inject(plan_of(kill_block{.at = {.pe = 1, .block = 2}}));
  s.launch(4, [=](block& b) { b.atomic_fetch_add(x, 1, b.pe()); });
  check_parts(failure_of<fault_error>([&] { s.synchronize(); }), {"PE 1 block 2 (all) in atomic at "});
  s.launch(4, [=](block& b) { b.atomic_fetch_add(x, 10, b.pe()); });
  CHECK_NOTHROW(s.synchronize());
  CHECK(read(m, count, 1)[0] == 43);
  check_usable(m);
}

TEST_CASE("a slow PE: the result is right when the deadline is longer, a stall when it is shorter") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(3);
  surroundings around(m);
  {
    ring r(m, 5);
    m.inject(plan_of(slow_pe{.at = {.pe = 1}, .seconds = 0.002}));
    r.run(patient);
    r.check_result();
    REQUIRE(m.faults_fired().size() == 1);
    CHECK(m.faults_fired()[0].times == 20);
    CHECK(m.faults_fired()[0].text() == "slow_pe: PE 1 block 0, wait at tests/support/faults.hpp:" +
                                            message(m.faults_fired()[0].line, " of PE 1, and 19 more"));
  }
  {
    sums s(m, 5);
    s.run(patient);
    s.check_result();
  }
  {
    ring r(m, 5);
    m.inject(plan_of(slow_pe{.at = {.pe = 1}, .seconds = 3000}));  // does not last: the program ends
    const auto e = stall_of([&] { r.run(stall_deadline); });
    REQUIRE(e);
    check_parts(e->what(), {"injected fault: slow_pe: PE 1 block 0"});
    CHECK(report_of(*e, 1, 0).state == block_state::running);
    CHECK(e->cycle().empty());
  }
  around.remove_and_check_restored();
}

}  // namespace
}  // namespace starling::test::fault_block_tests
