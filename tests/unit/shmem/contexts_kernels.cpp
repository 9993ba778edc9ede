// Contexts: each completes and orders what was issued on it, and ends with what it has issued done.
#include "starling/shmem/context.hpp"

#include "starling/shmem/rma.hpp"
#include "starling/shmem/signals.hpp"
#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::contexts_tests {
namespace {

constexpr index_t n = 60;
constexpr int rounds = 15;

STARLING_HD int wanted(int round, int lane, index_t i) {
  return static_cast<int>(mix(static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(lane), i));
}

struct fixture {
  explicit fixture(machine& m) : data(poisoned<int>(m, 4 * n)), signals(zeroed<signal>(m, 3)) {}
  symmetric_array<int> data;  // two boxes, and what goes into them
  symmetric_array<signal> signals;
};

// Two streams of messages from PE 0 to PE 1 on two contexts, each with a signal of its own that a fence of its context
// orders.
template <class Group>
STARLING_HD void send_both(const Group& who, sym<int> data, sym<signal> came, int round) {
  shmem::context left(who);
  shmem::context right(who, {.serialized = true, .private_to_one = true, .nostore = true});
  shmem::put_nbi(left, data, data.on(0) + 2 * n, n, 1);
  shmem::put_nbi(right, data + n, data.on(0) + 3 * n, n, 1);
  left.fence();
  shmem::signal_set(left, came, static_cast<std::uint64_t>(round), 1);
  right.quiet();
  shmem::signal_set(who, came + 1, static_cast<std::uint64_t>(round), 1);
}

TEST_CASE("two contexts, one ordered by fence and one completed by quiet, by every group") {
  for (const level by : all_levels) {
    CAPTURE(by);
    auto m = test_machine(2);
    if (!m) return;
    const fixture f(*m);
    const sym<int> data = f.data.data();
    const sym<signal> came = f.signals.data();
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      for (int round = 1; round <= rounds; ++round) {
        const auto r = static_cast<std::uint64_t>(round);
        if (b.pe() == 0) {
          b.wait(came + 2, r - 1, 1);
          b.for_each(2 * n, [&](index_t i) { data.on(0)[2 * n + i] = wanted(round, i < n ? 0 : 1, i % n); });
          b.sync();
          at_level(b, by, [&](const auto& who) { send_both(who, data, came, round); });
          b.sync();
          continue;
        }
        for (int lane = 0; lane < 2; ++lane) {
          b.wait(came + lane, r, 0);
          index_t wrong = 0;
          b.for_each(n, [&](index_t i) { wrong += data.on(1)[lane * n + i] != wanted(round, lane, i); });
          good.add(b, 1, wrong);
        }
        b.signal_set(came + 2, r, 0);
      }
    };
    m->run(1, k, {.threads = 96});
    CHECK(t.made() == static_cast<std::uint64_t>(2 * rounds * (on_gpus() ? 96 : 1)));
    CHECK(t.failed() == 0);
  }
}

TEST_CASE("the end of a context completes what was issued on it") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> data = f.data.data();
  const sym<signal> came = f.signals.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) {
      b.for_each(n, [&](index_t i) { data.on(0)[2 * n + i] = wanted(1, 0, i); });
      b.sync();
      {
        const shmem::context c(b);
        c.put_nbi(data, data.on(0) + 2 * n, n, 1);
      }
      b.signal_set(came, 1, 1);
      return;
    }
    b.wait(came, 1, 0);
    index_t wrong = 0;
    b.for_each(n, [&](index_t i) { wrong += data.on(1)[i] != wanted(1, 0, i); });
    good.add(b, 1, wrong);
  };
  m->run(1, k);
  CHECK(t.made() == (on_gpus() ? 256u : 1u));
  CHECK(t.failed() == 0);
}

template <int Depth>
STARLING_HD void open_each_within(const thread& who, sym<std::uint64_t> sum) {
  const shmem::context c(who);
  c.atomic_fetch_add(sum, 1, 1 - who.pe());
  if constexpr (Depth > 1) open_each_within<Depth - 1>(who, sum);
}

TEST_CASE("contexts inside one another, and a thousand one after the other") {
  auto m = test_machine(2);
  if (!m) return;
  auto sums = zeroed<std::uint64_t>(*m, 1);
  const sym<std::uint64_t> sum = sums.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.member() != 0) return;
    open_each_within<4>(b.thread(), sum);
    for (int i = 0; i < 1000; ++i) {
      const shmem::context c(b.thread());
      c.atomic_fetch_add(sum, 1, 1 - b.pe());
    }
  };
  m->run(1, k, {.threads = 32});
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, sums, pe)[0] == 1004);
}

}  // namespace
}  // namespace starling::test::contexts_tests
