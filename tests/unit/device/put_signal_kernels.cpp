// put_signal: who sees the signal sees the data, with set and add, from memory and from a generator.
#include "support/elements.hpp"
#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::put_signal_tests {
namespace {

// How a test sends its elements.
struct sending {
  level l;
  bool generated;
  signal_op op;
};

std::vector<sending> all_sendings() {
  std::vector<sending> all;
  for (const level l : all_levels)
    for (const bool generated : {false, true})
      for (const signal_op op : {signal_op::set, signal_op::add}) all.push_back({l, generated, op});
  return all;
}

template <class T>
STARLING_HD T wanted(int from, int round, index_t i) {
  return element<T>::of(mix(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(round), i));
}

// Rounds of a ring: every PE puts n elements to its right neighbour, which reads them before the next round. `arrived`
// grows by one a round; `taken` is the reader's credit. `outbox` is local memory of the sender.
template <class T>
void run_ring(machine& m, sym<T> inbox, sym<T> outbox, sym<signal> arrived, sym<signal> taken, counter good, index_t n,
              int rounds, sending how) {
  auto k = STARLING_KERNEL(block & b) {
    const int right = (b.pe() + 1) % b.n_pes();
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (int round = 1; round <= rounds; ++round) {
      T* out = outbox.on(b.pe());
      b.for_each(n, [&](index_t i) { out[i] = wanted<T>(b.pe(), round, i); });
      b.wait(taken, round - 1, right);
      at_level(b, how.l, [&](const auto& g) {
        const std::uint64_t value = how.op == signal_op::set ? round : 1;
        if (how.generated)
          g.put_signal(inbox, [=](index_t i) { return out[i]; }, n, arrived, value, right, how.op);
        else
          g.put_signal(inbox, out, n, arrived, value, right, how.op);
      });
      // On return the source may be reused.
      b.sync();
      b.for_each(n, [&](index_t i) { out[i] = T{}; });
      b.wait(arrived, round, left);
      index_t wrong = 0;
      b.for_each(n, [&](index_t i) { wrong += !(inbox.on(b.pe())[i] == wanted<T>(left, round, i)); });
      good.add(b, 1, wrong);
      b.signal_add(taken, 1, left);
    }
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("put_signal around a ring", T, std::uint8_t, float, words3, longs5) {
  auto m = test_machine(3);
  if (!m) return;
  for (const sending& how : all_sendings())
    for (const index_t n : {0, 1, 37, 1500}) {
      CAPTURE(how.l);
      CAPTURE(how.generated);
      CAPTURE(how.op);
      CAPTURE(n);
      const int rounds = 5;
      const auto inbox = poisoned<T>(*m, n + 1);
      const auto outbox = poisoned<T>(*m, n);
      const auto arrived = zeroed<signal>(*m, 1);
      const auto taken = zeroed<signal>(*m, 1);
      const tally t(*m);
      run_ring<T>(*m, inbox.data(), outbox.data(), arrived.data(), taken.data(), t.counter(), n, rounds, how);
      CHECK(t.made() == static_cast<std::uint64_t>(3 * rounds * (on_gpus() ? 64 : 1)));
      CHECK(t.failed() == 0);
      for (int pe = 0; pe < 3; ++pe) {
        CHECK(read(*m, arrived, pe)[0].value == static_cast<std::uint64_t>(rounds));
        CHECK((read(*m, inbox, pe).back() == poison_value<T>()));
      }
    }
}

// How many elements one PE sends another: none at times, and more than a block has threads.
STARLING_HD index_t part_length(int from, int to, index_t longest) {
  return static_cast<index_t>(mix(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), 5) % 4) * longest /
         3;
}

// Rounds in which every PE sends each, itself too, a part; and when it has read what came, credit: parts without data.
template <class T>
void run_all_to_all(machine& m, level l, sym<T> inbox, sym<signal> arrived, sym<signal> taken, counter good,
                    index_t longest, int rounds) {
  auto k = STARLING_KERNEL(block & b) {
    const int me = b.pe();
    at_level(b, l, [&](const auto& g) {
      for (int round = 1; round <= rounds; ++round) {
        g.template put_signals<T>(
            b.n_pes(),
            [=](int to) {
              return signalled_put<T>{inbox + me * (longest + 1), part_length(me, to, longest), arrived + me, to};
            },
            [=](int to, index_t i) { return wanted<T>(4 * me + to, round, i); }, round);
        g.wait_each(b.n_pes(), [=](int from) { return awaited_signal{arrived + from, from}; }, round);
        index_t wrong = 0;
        for (int from = 0; from < b.n_pes(); ++from) {
          const T* part = inbox.on(me) + from * (longest + 1);
          for (index_t i = 0; i < part_length(from, me, longest); ++i)
            wrong += !(part[i] == wanted<T>(4 * from + me, round, i));
        }
        good.add(g, 1, wrong);
        g.template put_signals<T>(
            b.n_pes(), [=](int to) { return signalled_put<T>{inbox, 0, taken + me, to}; },
            [](int, index_t) { return T{}; }, round);
        g.wait_each(b.n_pes(), [=](int from) { return awaited_signal{taken + from, from}; }, round);
      }
    });
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("put_signals to all PEs, and wait_each for all", T, std::uint8_t, float, words3) {
  for (const int n_pes : {1, 2, 4}) {
    auto m = test_machine(n_pes);
    if (!m) continue;
    for (const level l : all_levels)
      for (const index_t longest : {3, 40, 600}) {
        CAPTURE(n_pes);
        CAPTURE(l);
        CAPTURE(longest);
        const int rounds = 4;
        const auto inbox = poisoned<T>(*m, n_pes * (longest + 1));
        const auto arrived = zeroed<signal>(*m, n_pes);
        const auto taken = zeroed<signal>(*m, n_pes);
        const tally t(*m);
        run_all_to_all<T>(*m, l, inbox.data(), arrived.data(), taken.data(), t.counter(), longest, rounds);
        CHECK(t.made() >= static_cast<std::uint64_t>(n_pes * rounds));
        CHECK(t.failed() == 0);
        for (int pe = 0; pe < n_pes; ++pe) {
          const std::vector<T> got = read(*m, inbox, pe);
          for (int from = 0; from < n_pes; ++from) {
            for (index_t i = part_length(from, pe, longest); i <= longest; ++i)
              CHECK((got[static_cast<std::size_t>(from * (longest + 1) + i)] == poison_value<T>()));
            CHECK(read(*m, arrived, pe)[static_cast<std::size_t>(from)].value == static_cast<std::uint64_t>(rounds));
          }
        }
      }
  }
}

TEST_CASE("several PEs add to one signal, and their data has all arrived when the sum has") {
  auto m = test_machine(4);
  if (!m) return;
  constexpr index_t n = 300;
  constexpr int rounds = 20;
  auto inbox = poisoned<std::int64_t>(*m, 4 * n);
  auto arrived = zeroed<signal>(*m, 1);
  auto taken = zeroed<signal>(*m, 1);
  const sym<std::int64_t> x = inbox.data();
  const sym<signal> all_arrived = arrived.data();
  const sym<signal> credit = taken.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    for (int round = 1; round <= rounds; ++round) {
      b.put_signal(
          x + b.pe() * n, [=, pe = b.pe()](index_t i) { return 1000 * round + 10 * i + pe; }, n, all_arrived, 3, 0,
          signal_op::add);
      if (b.pe() == 0) {
        b.wait(all_arrived, 3 * 4 * round);
        index_t wrong = 0;
        b.for_each(4, n, [&](index_t pe, index_t i) { wrong += x.on(0)[pe * n + i] != 1000 * round + 10 * i + pe; });
        good.add(b, 1, wrong);
        b.sync();
        for (int pe = 0; pe < b.n_pes(); ++pe) b.signal_set(credit, round, pe);
      }
      b.wait(credit, round, 0);
    }
  };
  m->run(1, k);
  CHECK(t.made() == static_cast<std::uint64_t>(rounds * (on_gpus() ? 256 : 1)));
  CHECK(t.failed() == 0);
}

TEST_CASE("a generator is called once per element") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr index_t n = 555;
  auto calls = zeroed<int>(*m, n);
  auto inbox = poisoned<float>(*m, n);
  auto arrived = zeroed<signal>(*m, 1);
  const sym<int> count = calls.data();
  const sym<float> x = inbox.data();
  const sym<signal> s = arrived.data();
  auto k = STARLING_KERNEL(block & b) {
    const auto counted = [&](index_t i) {
      b.thread().atomic_fetch_add(count + i, 1, b.pe());
      return static_cast<float>(i) + 0.25f;
    };
    if (b.pe() == 0) b.put_signal(x, counted, n, s, 1, 1);
    if (b.pe() == 1) b.put(x, counted, n, 0);
  };
  m->run(1, k);
  for (int pe = 0; pe < 2; ++pe) {
    CHECK(read(*m, calls, pe) == std::vector<int>(n, 1));
    const std::vector<float> seen = read(*m, inbox, pe);
    for (index_t i = 0; i < n; ++i) CHECK(seen[static_cast<std::size_t>(i)] == static_cast<float>(i) + 0.25f);
  }
}

}  // namespace
}  // namespace starling::test::put_signal_tests
