// p and g: one value, by block, warp and thread.
#include "support/elements.hpp"
#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::single_value_tests {
namespace {

template <class T>
void run_p_and_g(machine& m, sym<T> put, sym<T> got_from, counter good, level l) {
  auto k = STARLING_KERNEL(block & b) {
    for (int to = 0; to < b.n_pes(); ++to)
      at_level(b, l, [&](const auto& g) {
        g.p(put + b.pe(), element<T>::of(mix(static_cast<std::uint64_t>(b.pe()), to)), to);
        const T seen = g.g(got_from + to, to);
        good.add(g, seen == element<T>::of(mix(9, to)));
      });
  };
  m.run(1, k, {.threads = 96});
}

TEST_CASE_TEMPLATE("p and g", T, std::uint8_t, std::int32_t, std::uint64_t, float, double, bytes3, words3, longs5) {
  auto m = test_machine(3);
  if (!m) return;
  auto own = poisoned<T>(*m, 3);
  for (int pe = 0; pe < 3; ++pe) {
    std::vector<T> values(3, poison_value<T>());
    values[static_cast<std::size_t>(pe)] = element<T>::of(mix(9, static_cast<std::uint64_t>(pe)));
    write(*m, own, pe, values);
  }
  const std::uint64_t threads[] = {96, 32, 1};
  for (const level l : all_levels) {
    CAPTURE(l);
    const tally t(*m);
    auto put = poisoned<T>(*m, 3);
    run_p_and_g<T>(*m, put.data(), own.data(), t.counter(), l);
    CHECK(t.made() == 9 * (on_gpus() ? threads[static_cast<int>(l)] : 1));
    CHECK(t.failed() == 0);
    for (int pe = 0; pe < 3; ++pe) {
      const std::vector<T> seen = read(*m, put, pe);
      for (int from = 0; from < 3; ++from)
        CHECK((seen[static_cast<std::size_t>(from)] ==
               element<T>::of(mix(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(pe)))));
    }
  }
}

TEST_CASE("every thread puts and gets values of its own") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr index_t n = 500;
  auto data = poisoned<std::int64_t>(*m, n);
  const sym<std::int64_t> x = data.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    const int other = 1 - b.pe();
    const thread self = b.thread();
    for (index_t i = b.member(); i < n; i += b.members()) self.p(x + i, 1000 * b.pe() + i, other);
    b.barrier_all();
    index_t wrong = 0;
    b.for_each(n, [&](index_t i) {
      wrong += x.on(b.pe())[i] != 1000 * other + i;
      wrong += self.g(x + (n - 1 - i), other) != 1000 * b.pe() + n - 1 - i;
    });
    good.add(b, 1, wrong);
  };
  m->run(1, k);
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

TEST_CASE("every thread of the group may read what get fetched") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr index_t n = 777;
  auto data = poisoned<int>(*m, 2 * n);
  const sym<int> x = data.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    const int other = 1 - b.pe();
    b.for_each(n, [&](index_t i) { x.on(b.pe())[i] = static_cast<int>(i) * (b.pe() + 2); });
    b.sync_all();
    for (const level l : {level::block, level::warp}) {
      int* fetched = x.on(b.pe()) + n;
      b.for_each(n, [&](index_t i) { fetched[i] = -1; });
      b.sync();
      at_level(b, l, [&](const auto& g) {
        g.get(fetched, x, n, other);
        index_t wrong = 0;
        for (index_t i = 0; i < n; ++i) wrong += fetched[i] != static_cast<int>(i) * (other + 2);
        good.add(g, 1, wrong);
      });
      b.sync();
    }
  };
  m->run(1, k);
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

}  // namespace
}  // namespace starling::test::single_value_tests
