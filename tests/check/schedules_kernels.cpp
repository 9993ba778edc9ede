// How schedules go: what they may do, that a seed is a schedule, and what is left when they are over.
#include <array>
#include <fstream>
#include <set>

#include "support/checked.hpp"
#include "support/environment_guard.hpp"
#include "support/usable.hpp"

namespace starling::test::schedules_kernels_tests {
namespace {

TEST_CASE("signals of one block overtake each other unless a fence is between") {
  machine m = one_thread_machine(2, 200);
  const auto signals = zeroed<signal>(m, 2);
  const sym<signal> s = signals.data();
  std::array<int, 2> seen{};  // how often the first had come when the second was seen
  int* counts = seen.data();
  const auto kernel = [=](bool fenced) {
    return STARLING_KERNEL(block & b) {
      if (b.pe() == 0) {
        b.signal_set(s, 1, 1);
        if (fenced) b.fence();
        b.signal_set(s + 1, 1, 1);
      } else {
        b.wait(s + 1, 1, 0);
        ++counts[b.test(s, compare::ge, 1) ? 1 : 0];
      }
    };
  };
  m.run(1, kernel(false));
  CHECK(seen[0] > 0);
  CHECK(seen[1] > 0);
  seen = {};
  for (int pe = 0; pe < 2; ++pe) m.fill(signals.on(pe), 0, 2 * sizeof(signal));
  m.run(1, kernel(true));
  CHECK(seen[0] == 0);
  CHECK(seen[1] == 201);
}

TEST_CASE("threads of a loop come in any order, each once") {
  machine m = one_thread_machine(1, 100);
  std::set<std::vector<int>> orders;
  auto* all = &orders;
  m.run(
      1, STARLING_KERNEL(block & b) {
        std::vector<int> order;
        b.for_each(10, [&](index_t i) { order.push_back(static_cast<int>(i)); });
        all->insert(order);
        std::set<std::pair<index_t, index_t>> cells;
        b.for_each(3, 5, [&](index_t y, index_t x) { cells.insert({y, x}); });
        if (cells.size() != 15) all->insert({});
      });
  CHECK(orders.size() >= 4);
  for (std::vector<int> order : orders) {
    std::sort(order.begin(), order.end());
    CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }
}

// A defect that some schedules show and others do not: it is in a branch that only one order of events takes.
struct sometimes {
  sym<signal> s;
  STARLING_HD void operator()(block& b) const {
    if (b.pe() == 0) b.signal_set(s, 1, 1);
    if (b.pe() == 1 && b.test(s, compare::ge, 1)) b.wait(s + 1, 1, 0);
  }
};

TEST_CASE("a seed shows the same again, alone as among others; another may show nothing") {
  machine m = checked_machine(2, 1000);
  const auto signals = zeroed<signal>(m, 2);
  const sometimes k{signals.data()};
  const auto e = finding_of([&] { m.run(1, k); });
  REQUIRE(e);
  const std::uint64_t seed = e->seed();
  for (int again = 0; again < 3; ++again) {
    machine one = m.check({.first_seed = seed, .seeds = 1});
    const auto f = finding_of([&] { one.run(1, k); });
    REQUIRE(f);
    CHECK(std::string(f->what()) == e->what());
    CHECK(f->seed() == seed);
  }
  int passed = 0;
  for (std::uint64_t other = 1; other <= 40; ++other) try {
      machine one = m.check({.first_seed = other, .seeds = 1});
      const std::uint64_t before = one.checked().schedules;
      one.run(1, k);
      CHECK(one.checked().schedules == before + 2);
      ++passed;
    } catch (const check_error& f) {
      CHECK((f.seed() == other || f.seed() == 0));
    }
  CHECK(passed >= 0);
}

TEST_CASE("after a finding memory is as it was before the run, and the machine works") {
  machine m = checked_machine(2);
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 4);
  write(m, data, 0, {1, 2, 3, 4});
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 0) x.on(0)[2] = 30;
                if (b.pe() == 0) b.p(x + 1, 9, 1);
                b.wait(s, 1, 1 - b.pe());
              },
              defect::deadlock, {});
  CHECK(read(m, data, 0) == std::vector<int>{1, 2, 3, 4});
  CHECK(read(m, data, 1) == std::vector<int>{0, 0, 0, 0});
  check_usable(m);
}

TEST_CASE("each schedule starts from the same memory, and what the program made is there at the end") {
  machine m = one_thread_machine(3, 25);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  for (int run = 0; run < 2; ++run)
    m.run(1, STARLING_KERNEL(block & b) { *x.on(b.pe()) += b.all_reduce(b.pe() + 1, plus{}); });
  for (int pe = 0; pe < 3; ++pe) CHECK(read(m, data, pe)[0] == 12);
  const check_summary c = m.checked();
  CHECK(c.programs == 2);
  CHECK(c.schedules == 2 * (25 + 1));
  CHECK(c.calls > c.schedules);
  CHECK(c.deliveries > c.schedules);
  CHECK(c.accesses_seen);
  CHECK(c.seconds > 0);
}

struct thrown {};

TEST_CASE("what a kernel throws comes out, and what lay on the stacks of the others is destroyed") {
  machine m = checked_machine(2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  int alive = 0;
  int* count = &alive;
  struct guard {
    int* count;
    explicit guard(int* c) : count(c) { ++*c; }
    ~guard() { --*count; }
  };
  const auto k = STARLING_KERNEL(block & b) {
    const guard g(count);
    if (b.pe() == 0) {
      try {
        throw thrown();
      } catch (const thrown&) {
        b.signal_set(s, 1, 1);  // another block runs while this one handles an exception
        b.quiet();
        throw;
      }
    }
    try {
      b.wait(s, 2, 0);
    } catch (const std::exception&) {
    }
  };
  CHECK_THROWS_AS(m.run(1, k), thrown);
  CHECK(alive == 0);
  check_usable(m);
}

TEST_CASE("scratch memory beyond the launch, and barriers in plain launches") {
  machine m = checked_machine(1);
  check_finds(m, 1, STARLING_KERNEL(block & b) { (void)b.scratch<int>(100); }, defect::out_of_bounds,
              {"400", "scratch_bytes"});
  stream s = m.new_stream(0);
  s.launch(1, STARLING_KERNEL(block & b) { b.sync_pe(); });
  const auto e = finding_of([&] { s.synchronize(); });
  if (e) check_parts(e->what(), {"in a plain launch", "machine::run"});
}

TEST_CASE("options that are none, machines that have no check mode") {
  check_parts(failure_of<argument_error>([] { (void)machine::host(1).check({.seeds = 0}); }),
              {"seeds = 0", "at least one"});
  if (machine::probe_cuda().devices > 0)
    check_parts(failure_of<unsupported_error>([] { (void)machine::cuda({0}).check(); }), {"virtual devices"});
  const environment_guard wrong("STARLING_CHECK", "many");
  check_parts(failure_of<argument_error>([] { (void)machine::host(1); }), {"STARLING_CHECK=\"many\"", "whole number"});
}

TEST_CASE("the environment turns check mode on, and the report has a line for each run") {
  const std::string path = "check_report_test.json";
  std::remove(path.c_str());
  const environment_guard seeds("STARLING_CHECK", "7");
  const environment_guard first("STARLING_CHECK_SEED", "1000");
  const environment_guard report("STARLING_CHECK_REPORT", path.c_str());
  machine m = machine::host(2);
  const auto signals = zeroed<signal>(m, 1);
  const sym<signal> s = signals.data();
  m.run(1, STARLING_KERNEL(block & b) { b.sync_all(); });
  const auto e = finding_of([&] { m.run(1, STARLING_KERNEL(block & b) { b.wait(s, 1, 1 - b.pe()); }); });
  if (e) CHECK(e->seed() == 1000);
  std::ifstream in(path);
  std::string line;
  REQUIRE(std::getline(in, line));
  check_parts(line, {"\"programs\":1,", "\"schedules\":8,", "\"accesses_seen\":true"});
  CHECK(line.find("defect") == std::string::npos);
  REQUIRE(std::getline(in, line));
  check_parts(line, {"\"programs\":1,", "\"schedules\":1,", "\"defect\":\"deadlock\"", "\"seed\":1000", "\\n"});
  in.close();
  std::remove(path.c_str());
}

}  // namespace
}  // namespace starling::test::schedules_kernels_tests
