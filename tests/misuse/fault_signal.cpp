// Signals and packets that are dropped, delayed or changed on purpose.
#include "support/faults.hpp"

namespace starling::test::fault_signal_tests {
namespace {

constexpr double patient = 30;  // seconds: no wait of a correct program takes that long

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a dropped signal ends as a stall that names the drop") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(4);
  surroundings around(m);
  {
    ring r(m, 20);
    m.inject(plan_of(drop_signal{.at = {.pe = 1, .nth = 5}}));  // two signals a round: that of round 3 to the right
    const auto e = stall_of([&] { r.run(stall_deadline); });
    REQUIRE(e);
    const block_report at = report_of(*e, 2, 0);
    check_wait(at, {operation::wait, 0, 1, compare::ge, 3, 2, "ring.cpp", 20});
    REQUIRE(e->injected().size() == 1);
    CHECK(e->injected()[0] == "drop_signal: PE 1 block 0, put at ring.cpp:10 to PE 2");
    check_parts(e->what(), {"injected fault: drop_signal: PE 1 block 0, put at ring.cpp:10 to PE 2",
                            "look at the injected faults above first", "machine::inject({})"});
    CHECK_FALSE(says(e->what(), "deadline is too short"));

    const std::vector<fired_fault> fired = m.faults_fired();
    REQUIRE(fired.size() == 1);
    CHECK(fired[0].index == 0);
    CHECK(fired[0].kind == "drop_signal");
    CHECK(fired[0].times == 1);
    CHECK(fired[0].pe == 1);
    CHECK(fired[0].block == 0);
    CHECK(fired[0].peer == 2);
    CHECK(fired[0].file == "ring.cpp");
    CHECK(fired[0].line == 10);
  }
  around.check_restored();  // it has fired, once
  {
    ring r(m, 20);
    r.run(patient);
    r.check_result();
  }
  around.remove_and_check_restored();
}

TEST_CASE("calls are counted over runs, and a fault that fires for ever makes every run stall") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(3);
  surroundings around(m);
  {
    ring r(m, 4);  // 8 signals of each PE
    m.inject(plan_of(drop_signal{.at = {.pe = 2, .nth = 10, .times = 0}}));
    r.run(patient);
    r.check_result();
    CHECK(m.faults_fired().empty());
  }
  for (int again = 0; again < 3; ++again) {
    ring r(m, 4);
    CHECK_THROWS_AS(r.run(stall_deadline), stall_error);
    REQUIRE(m.faults_fired().size() == 1);
    CHECK(m.faults_fired()[0].times > again);
  }
  around.remove_and_check_restored();
}

TEST_CASE("a stall of a later run says that the fault fired in an earlier one") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(2);
  auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  m.inject(plan_of(drop_signal{}));
  m.run(1, [=](block& b) { b.signal_set(s, 1, 1 - b.pe(), {"first.cpp", 1}); });
  const auto e = stall_of([&] { m.run(1, [=](block& b) { b.wait(s, 2, 1 - b.pe()); }, {.deadline = stall_deadline}); });
  REQUIRE(e);
  check_parts(e->what(), {"injected fault: drop_signal: PE ", "put at first.cpp:1", "(in an earlier run)"});
}

TEST_CASE("a delayed signal: the result is right when the deadline is longer, a stall when it is shorter") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(4);
  surroundings around(m);
  {
    ring r(m, 20);
    m.inject(plan_of(delay_signal{.at = {.pe = 3, .nth = 8}, .seconds = 0.05}));
    r.run(patient);
    r.check_result();
    REQUIRE(m.faults_fired().size() == 1);
    CHECK(m.faults_fired()[0].text() == "delay_signal: PE 3 block 0, put at ring.cpp:30 to PE 2");
  }
  {
    ring r(m, 20);
    m.inject(plan_of(delay_signal{.at = {.pe = 3, .nth = 7}, .seconds = 3000}));  // does not last: the program ends
    const auto e = stall_of([&] { r.run(stall_deadline); });
    REQUIRE(e);
    check_parts(e->what(), {"injected fault: delay_signal: PE 3 block 0, put at ring.cpp:10 to PE 0"});
    CHECK(report_of(*e, 0, 0).wanted == 4);
    CHECK(report_of(*e, 0, 0).seen == 3);
  }
  around.remove_and_check_restored();
}

TEST_CASE("a packet with a corrupted number never comes: the report shows wanted and seen") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(3);
  surroundings around(m);
  for (const std::uint64_t flip : {std::uint64_t{1} << 63, std::uint64_t{0x30}}) {
    halo h(m, 20);
    m.inject(plan_of(corrupt_epoch{.at = {.pe = 0, .nth = 9}, .flip = flip}));  // round 5, to the right
    const auto e = stall_of([&] { h.run(stall_deadline); });
    REQUIRE(e);
    const block_report at = report_of(*e, 1, 0);
    CHECK(at.wanted == 5);
    CHECK(at.seen == (5 ^ flip));
    CHECK(at.peer == 0);
    CHECK(at.line == 20);
    check_parts(e->what(), {"injected fault: corrupt_epoch: PE 0 block 0, put at halo.cpp:10 to PE 1"});
  }
  {
    halo h(m, 20);
    h.run(patient);
    h.check_result();
  }
  around.remove_and_check_restored();
}

TEST_CASE("a dropped packet is a dropped signal") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(3);
  surroundings around(m);
  {
    halo h(m, 20);
    m.inject(plan_of(drop_signal{.at = {.pe = 2, .nth = 10}}));
    const auto e = stall_of([&] { h.run(stall_deadline); });
    REQUIRE(e);
    CHECK(report_of(*e, 1, 0).wanted == 5);
    CHECK(report_of(*e, 1, 0).seen == 3);  // the same box, two rounds before
    check_parts(e->what(), {"put at halo.cpp:11 to PE 1"});
  }
  around.remove_and_check_restored();
}

TEST_CASE("the words of barriers are left alone unless the selector names them") {
  if (skipped_on_gpus("inject faults")) return;
  machine m = machine::host(4);
  surroundings around(m);
  for (const fault& f : {fault(drop_signal{.at = {.times = 0}}), fault(corrupt_epoch{.at = {.times = 0}})}) {
    sums s(m, 20);
    m.inject(plan_of(f));
    s.run(patient);
    s.check_result();
    CHECK(m.faults_fired().empty());
  }
  for (const fault& f : {fault(drop_signal{.at = {.pe = 1, .nth = 8, .calls = fault_calls::control}}),
                         fault(corrupt_epoch{.at = {.pe = 1, .nth = 8, .calls = fault_calls::all}})}) {
    sums s(m, 20);
    m.inject(plan_of(f));
    const auto e = stall_of([&] { s.run(stall_deadline); });
    REQUIRE(e);
    check_parts(e->what(), {message("injected fault: ", name(f), ": PE 1 block "), "put at sums.cpp:10 to PE"});
    CHECK(m.faults_fired().size() == 1);
  }
  around.remove_and_check_restored();
}

}  // namespace
}  // namespace starling::test::fault_signal_tests
