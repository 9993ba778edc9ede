// wait, wait_all and test: all comparisons, values that are there already and values that come.
#include "support/levels.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::wait_tests {
namespace {

constexpr compare comparisons[] = {compare::eq, compare::ne, compare::gt, compare::ge, compare::lt, compare::le};

TEST_CASE("test compares the local copy with a value, in all six ways") {
  auto m = test_machine(2);
  if (!m) return;
  for (const level l : all_levels) {
    CAPTURE(l);
    auto signals = zeroed<signal>(*m, 1);
    const sym<signal> s = signals.data();
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      if (b.pe() == 0) b.signal_set(s, 5, 1);
      b.barrier_all();
      const std::uint64_t seen = b.pe() == 1 ? 5 : 0;
      at_level(b, l, [&](const auto& g) {
        for (int how = 0; how < 6; ++how)
          for (std::uint64_t value = 0; value < 8; ++value)
            good.add(g, g.test(s, static_cast<compare>(how), value) == holds(seen, static_cast<compare>(how), value));
      });
    };
    m->run(1, k, {.threads = 64});
    CHECK(t.made() >= 2 * 6 * 8);
    CHECK(t.failed() == 0);
  }
}

TEST_CASE("wait returns at once for what holds already, in all six ways") {
  auto m = test_machine(1);
  if (!m) return;
  for (const level l : all_levels)
    for (const compare how : comparisons)
      for (const std::uint64_t value : {4, 5, 6}) {
        if (!holds(5, how, value)) continue;
        CAPTURE(l);
        CAPTURE(symbol(how));
        CAPTURE(value);
        auto signals = zeroed<signal>(*m, 1);
        auto passed = zeroed<int>(*m, 1);
        const sym<signal> s = signals.data();
        const sym<int> p = passed.data();
        auto k = STARLING_KERNEL(block & b) {
          b.signal_set(s, 5, 0);
          b.sync();
          at_level(b, l, [&](const auto& g) {
            g.wait(s, how, value);
            if (g.member() == 0) *p.on(0) = 1;
          });
        };
        m->run(1, k);
        CHECK(read(*m, passed, 0)[0] == 1);
      }
}

// PE 1 counts the signal of PE 0 up, one step at a time, each after PE 0 has seen the one before; the data written
// before each step is seen after it.
TEST_CASE("wait returns when a comparison comes to hold, and then sees what was written before") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr int steps = 200;
  for (const level l : all_levels)
    for (const compare how : {compare::eq, compare::ne, compare::gt, compare::ge}) {
      CAPTURE(l);
      CAPTURE(symbol(how));
      auto data = poisoned<int>(*m, 1);
      auto signals = zeroed<signal>(*m, 2);
      const sym<int> x = data.data();
      const sym<signal> up = signals.data();
      const sym<signal> seen = signals.data() + 1;
      const tally t(*m);
      const counter good = t.counter();
      auto k = STARLING_KERNEL(block & b) {
        at_level(b, l, [&](const auto& g) {
          for (int step = 1; step <= steps; ++step) {
            const std::uint64_t before = step - 1;
            if (b.pe() == 1) {
              g.p(x, 10 * step, 0);
              g.fence();
              g.signal_add(up, 1, 0);
              g.wait(seen, step, 0);
            } else {
              const std::uint64_t value = how == compare::ne || how == compare::gt ? before : step;
              g.wait(up, how, value, 1);
              good.add(g, *x.on(0) == 10 * step);
              g.sync();
              g.signal_set(seen, step, 1);
            }
          }
        });
      };
      m->run(1, k, {.threads = 64});
      CHECK(t.made() >= steps);
      CHECK(t.failed() == 0);
    }
}

// More signals than threads of any group.
TEST_CASE("wait_all waits for every one of many signals, and sees all that was written before them") {
  auto m = test_machine(4);
  if (!m) return;
  constexpr index_t n = 300;
  for (const level l : all_levels) {
    CAPTURE(l);
    auto data = poisoned<int>(*m, 4 * n);
    auto signals = zeroed<signal>(*m, 4 * n + 1);
    const sym<int> x = data.data();
    const sym<signal> s = signals.data();
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      const thread self = b.thread();
      for (int to = 0; to < b.n_pes(); ++to)
        b.for_each(n, [&](index_t i) {
          const index_t mine = b.pe() * n + i;
          const int value = static_cast<int>(mine) + 7 * to;
          self.put_signal(x + mine, &value, 1, s + mine, 4, to);
        });
      at_level(b, l, [&](const auto& g) {
        g.wait_all(s, 4 * n, 4);
        index_t wrong = 0;
        for (index_t i = 0; i < 4 * n; ++i) wrong += x.on(b.pe())[i] != static_cast<int>(i) + 7 * b.pe();
        good.add(g, 1, wrong);
      });
    };
    m->run(1, k);
    CHECK(t.made() >= 4);
    CHECK(t.failed() == 0);
    for (int pe = 0; pe < 4; ++pe) CHECK(read(*m, signals, pe).back().value == 0);
  }
}

TEST_CASE("test acquires: a loop around it may read the data") {
  auto m = test_machine(2);
  if (!m) return;
  auto data = poisoned<int>(*m, 64);
  auto signals = zeroed<signal>(*m, 1);
  const sym<int> x = data.data();
  const sym<signal> s = signals.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) {
      b.put_signal(x, [](index_t i) { return static_cast<int>(i) + 1; }, 64, s, 1, 1);
      return;
    }
    bool there = false;
    for (int looks = 0; looks < 1000000 && !there; ++looks) there = b.test(s, compare::ge, 1);
    if (!there) b.wait(s, 1, 0);
    index_t wrong = 0;
    b.for_each(64, [&](index_t i) { wrong += x.on(1)[i] != static_cast<int>(i) + 1; });
    good.add(b, 1, wrong);
  };
  m->run(1, k);
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

}  // namespace
}  // namespace starling::test::wait_tests
