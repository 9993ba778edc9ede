// fence and quiet: what they order, at every granularity.
#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::order_tests {
namespace {

constexpr index_t n = 400;
constexpr int rounds = 25;

// Three arrays that PE 0 writes at PE 1 by different calls, and the signals of both directions.
struct shared {
  sym<int> bulk, strided, single, local;
  sym<signal> arrived, taken;
};

struct arrays {
  explicit arrays(machine& m)
      : bulk(poisoned<int>(m, n)),
        strided(poisoned<int>(m, 2 * n)),
        single(poisoned<int>(m, 1)),
        local(poisoned<int>(m, n)),
        signals(zeroed<signal>(m, 2)) {}
  shared handles() const {
    return {bulk.data(), strided.data(), single.data(), local.data(), signals.data(), signals.data() + 1};
  }
  symmetric_array<int> bulk, strided, single, local;
  symmetric_array<signal> signals;
};

STARLING_HD int wanted(int round, index_t i) { return static_cast<int>(mix(static_cast<std::uint64_t>(round), i)); }

// PE 1 compares what it has of a round, and gives PE 0 the credit for the next.
STARLING_HD void receive(block& b, const shared& a, int round, counter good) {
  b.wait(a.arrived, round, 0);
  index_t wrong = *a.single.on(1) != wanted(round, -1);
  b.for_each(n, [&](index_t i) {
    wrong += a.bulk.on(1)[i] != wanted(round, i);
    wrong += a.strided.on(1)[2 * i] != wanted(round, i);
  });
  good.add(b, 1, wrong);
  b.signal_set(a.taken, round, 0);
}

enum class means : int { fence, quiet_after_nbi };

void check(level l, means by) {
  auto m = test_machine(2);
  if (!m) return;
  const arrays owner(*m);
  const shared a = owner.handles();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    for (int round = 1; round <= rounds; ++round) {
      if (b.pe() == 1) {
        receive(b, a, round, good);
        continue;
      }
      b.for_each(n, [&](index_t i) { a.local.on(0)[i] = wanted(round, i); });
      b.wait(a.taken, round - 1, 1);
      at_level(b, l, [&](const auto& g) {
        if (by == means::fence)
          g.put(a.bulk, a.local.on(0), n, 1);
        else
          g.put_nbi(a.bulk, a.local.on(0), n, 1);
        g.iput(a.strided, 2, a.local.on(0), 1, n, 1);
        g.p(a.single, wanted(round, -1), 1);
        if (by == means::fence)
          g.fence();
        else
          g.quiet();
        g.signal_set(a.arrived, round, 1);
      });
      b.sync();
    }
  };
  m->run(1, k, {.threads = 96});
  CHECK(t.made() == static_cast<std::uint64_t>(rounds * (on_gpus() ? 96 : 1)));
  CHECK(t.failed() == 0);
}

TEST_CASE("puts before a fence arrive before the signal after it") {
  for (const level l : all_levels) {
    CAPTURE(l);
    check(l, means::fence);
  }
}

TEST_CASE("nonblocking puts have arrived after quiet") {
  for (const level l : all_levels) {
    CAPTURE(l);
    check(l, means::quiet_after_nbi);
  }
}

TEST_CASE("after quiet, a third PE that is told of a put can get its data") {
  auto m = test_machine(3);
  if (!m) return;
  const arrays owner(*m);
  const shared a = owner.handles();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    for (int round = 1; round <= rounds; ++round) {
      if (b.pe() == 0) {
        b.wait(a.taken, round - 1, 2);
        b.put(a.bulk, [=](index_t i) { return wanted(round, i); }, n, 1);
        b.quiet();
        b.signal_set(a.arrived, round, 2);
      } else if (b.pe() == 2) {
        b.wait(a.arrived, round, 0);
        b.get(a.local.on(2), a.bulk, n, 1);
        index_t wrong = 0;
        b.for_each(n, [&](index_t i) { wrong += a.local.on(2)[i] != wanted(round, i); });
        good.add(b, 1, wrong);
        b.signal_set(a.taken, round, 0);
      }
    }
  };
  m->run(1, k);
  CHECK(t.made() == static_cast<std::uint64_t>(rounds * (on_gpus() ? 256 : 1)));
  CHECK(t.failed() == 0);
}

TEST_CASE("a signal is raised after all earlier writes to the own PE's memory") {
  auto m = test_machine(2);
  if (!m) return;
  const arrays owner(*m);
  const shared a = owner.handles();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    for (int round = 1; round <= rounds; ++round) {
      if (b.pe() == 0) {
        b.for_each(n, [&](index_t i) { a.bulk.on(0)[i] = wanted(round, i); });
        b.signal_set(a.arrived, round, 1);
        b.wait(a.taken, round, 1);
      } else {
        b.wait(a.arrived, round, 0);
        b.get(a.local.on(1), a.bulk, n, 0);
        index_t wrong = 0;
        b.for_each(n, [&](index_t i) { wrong += a.local.on(1)[i] != wanted(round, i); });
        good.add(b, 1, wrong);
        b.signal_set(a.taken, round, 0);
      }
    }
  };
  m->run(1, k);
  CHECK(t.made() == static_cast<std::uint64_t>(rounds * (on_gpus() ? 256 : 1)));
  CHECK(t.failed() == 0);
}

}  // namespace
}  // namespace starling::test::order_tests
