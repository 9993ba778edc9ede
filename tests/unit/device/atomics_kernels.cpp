// Atomics on another PE's memory: what each returns and stores, and that none is lost among many blocks.
#include "support/levels.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::atomics_tests {
namespace {

template <class T>
void run_each_once(machine& m, sym<T> x, counter good, level l) {
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() != 1) return;
    at_level(b, l, [&](const auto& g) {
      good.add(g, g.atomic_fetch(x, 0) == T(6));
      g.atomic_set(x, T(9), 0);
      good.add(g, g.atomic_fetch(x, 0) == T(9));
      good.add(g, g.atomic_fetch_add(x, T(3), 0) == T(9));
      good.add(g, g.atomic_swap(x, T(20), 0) == T(12));
      good.add(g, g.atomic_compare_swap(x, T(1), T(2), 0) == T(20));
      good.add(g, g.atomic_compare_swap(x, T(20), T(33), 0) == T(20));
      good.add(g, g.atomic_fetch(x, 0) == T(33));
    });
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("each atomic returns the old value and stores the new one", T, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t, float, double) {
  auto m = test_machine(2);
  if (!m) return;
  for (const level l : all_levels) {
    CAPTURE(l);
    auto words = poisoned<T>(*m, 3);
    write(*m, words, 0, {T(1), T(6), T(2)});
    const tally t(*m);
    run_each_once<T>(*m, words.data() + 1, t.counter(), l);
    CHECK(t.made() >= 7);
    CHECK(t.failed() == 0);
    CHECK(read(*m, words, 0) == std::vector<T>{T(1), T(33), T(2)});
    CHECK(read(*m, words, 1)[1] == poison_value<T>());
  }
}

template <class T>
void run_bits(machine& m, sym<T> x, counter good) {
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() != 1) return;
    good.add(b, b.atomic_fetch_and(x, T(0x3c), 0) == T(0x5a));
    good.add(b, b.atomic_fetch_or(x, T(0x81), 0) == T(0x18));
    good.add(b, b.atomic_fetch_xor(x, T(0xff), 0) == T(0x99));
  };
  m.run(1, k);
}

TEST_CASE_TEMPLATE("and, or, xor", T, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  auto m = test_machine(2);
  if (!m) return;
  auto words = poisoned<T>(*m, 1);
  write(*m, words, 0, {T(0x5a)});
  const tally t(*m);
  run_bits<T>(*m, words.data(), t.counter());
  CHECK(t.made() == 3 * (on_gpus() ? 256 : 1));
  CHECK(t.failed() == 0);
  CHECK(read(*m, words, 0)[0] == T(0x66));
}

constexpr int blocks = 4;
constexpr int times = 200;

template <class T>
void run_adds(machine& m, sym<T> x) {
  auto k = STARLING_KERNEL(block & b) {
    for (int i = 0; i < times; ++i) {
      b.atomic_fetch_add(x, T(1), 0);
      const warp w = b.warp();
      if (w.rank() == 0) w.atomic_fetch_add(x, T(2), 1);
    }
  };
  m.run(blocks, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("no addition is lost, and a block or a warp adds once", T, std::int32_t, std::uint64_t, float,
                   double) {
  auto m = test_machine(2);
  if (!m) return;
  auto words = zeroed<T>(*m, 1);
  run_adds<T>(*m, words.data());
  CHECK(read(*m, words, 0)[0] == T(2 * blocks * times));
  CHECK(read(*m, words, 1)[0] == T(2 * 2 * blocks * times));
}

TEST_CASE("every ticket is drawn once") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr index_t tickets = 3 * blocks * times;
  auto next = zeroed<std::uint64_t>(*m, 1);
  auto drawn = zeroed<int>(*m, tickets);
  const sym<std::uint64_t> counter = next.data();
  const sym<int> seen = drawn.data();
  auto k = STARLING_KERNEL(block & b) {
    for (int i = 0; i < times; ++i) {
      const auto mine = static_cast<index_t>(b.atomic_fetch_add(counter, 1, 2));
      b.atomic_fetch_add(seen + mine, 1, 2);
    }
  };
  m->run(blocks, k);
  CHECK(read(*m, drawn, 2) == std::vector<int>(tickets, 1));
}

TEST_CASE("swaps hand every value on to exactly one other") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr index_t all = 2 * blocks * times;
  auto slot = zeroed<std::int32_t>(*m, 1);
  auto got = zeroed<int>(*m, all + 1);
  const sym<std::int32_t> x = slot.data();
  const sym<int> seen = got.data();
  auto k = STARLING_KERNEL(block & b) {
    for (int i = 0; i < times; ++i) {
      const int mine = 1 + (b.pe() * blocks + b.index()) * times + i;
      b.atomic_fetch_add(seen + b.atomic_swap(x, mine, 0), 1, 0);
    }
  };
  m->run(blocks, k);
  std::vector<int> seen_by = read(*m, got, 0);
  ++seen_by[static_cast<std::size_t>(read(*m, slot, 0)[0])];  // the last one is still there
  CHECK(seen_by == std::vector<int>(all + 1, 1));
}

TEST_CASE("compare and swap lets exactly one in") {
  auto m = test_machine(2);
  if (!m) return;
  auto turns = zeroed<std::uint64_t>(*m, times);
  auto won = zeroed<std::uint64_t>(*m, 1);
  const sym<std::uint64_t> x = turns.data();
  const sym<std::uint64_t> wins = won.data();
  auto k = STARLING_KERNEL(block & b) {
    const std::uint64_t mine = 1 + b.pe() * blocks + b.index();
    for (int i = 0; i < times; ++i)
      if (b.atomic_compare_swap(x + i, 0, mine, 1) == 0) b.atomic_fetch_add(wins, 1, 1);
  };
  m->run(blocks, k);
  CHECK(read(*m, won, 1)[0] == times);
  for (const std::uint64_t winner : read(*m, turns, 1)) CHECK((winner >= 1 && winner <= 2 * blocks));
}

}  // namespace
}  // namespace starling::test::atomics_tests
