// Atomics by OpenSHMEM's names: those that give nothing, and those whose result comes by quiet, against a sequential
// model.
#include "starling/shmem/atomics.hpp"

#include "starling/shmem/context.hpp"
#include "starling/shmem/wait.hpp"

#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::atomics_tests {
namespace {

// One operation of a random sequence.
template <class T>
struct step {
  int what;
  T value;
  T expected;
};

constexpr int kinds = 9;  // of which the last four are for whole numbers alone

template <class T>
T after(const step<T>& s, T held) {
  switch (s.what) {
    case 0:
      return held;
    case 1:
      return held + s.value;
    case 2:
      return s.value;
    case 3:
      return held == s.expected ? s.value : held;
    case 4:
      return s.value;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (s.what == 5) return static_cast<T>(held + 1);
    if (s.what == 6) return held & s.value;
    if (s.what == 7) return held | s.value;
    return held ^ s.value;
  }
  return held;
}

enum class form : int { fetching, plain, later };

// PE 1 does the steps to a word of PE 0; got[i] is what step i gave.
template <class T>
void run_steps(machine& m, sym<T> x, sym<step<T>> steps, sym<T> got, index_t n, form f, level l) {
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() != 1) return;
    at_level(b, l, [&](const auto& g) {
      for (index_t i = 0; i < n; ++i) {
        const step<T> s = steps.on(1)[i];
        const T v = s.value;
        T* later = got.on(1) + i;
        T old{};
        if (f == form::fetching) {
          if (s.what == 0) old = shmem::atomic_fetch(g, x, 0);
          if (s.what == 1) old = shmem::atomic_fetch_add(g, x, v, 0);
          if (s.what == 2) old = shmem::atomic_swap(g, x, v, 0);
          if (s.what == 3) old = shmem::atomic_compare_swap(g, x, s.expected, v, 0);
          if (s.what == 4) shmem::atomic_set(g, x, v, 0);
          if constexpr (std::is_integral_v<T>) {
            if (s.what == 5) old = shmem::atomic_fetch_inc(g, x, 0);
            if (s.what == 6) old = shmem::atomic_fetch_and(g, x, v, 0);
            if (s.what == 7) old = shmem::atomic_fetch_or(g, x, v, 0);
            if (s.what == 8) old = shmem::atomic_fetch_xor(g, x, v, 0);
          }
          if (g.member() == 0 && s.what != 4) *later = old;
        } else if (f == form::plain) {
          if (s.what == 0) shmem::atomic_set(g, x, shmem::atomic_fetch(g, x, 0), 0);
          if (s.what == 1) shmem::atomic_add(g, x, v, 0);
          if (s.what == 2 || s.what == 4) shmem::atomic_set(g, x, v, 0);
          if (s.what == 3) (void)shmem::atomic_compare_swap(g, x, s.expected, v, 0);
          if constexpr (std::is_integral_v<T>) {
            if (s.what == 5) shmem::atomic_inc(g, x, 0);
            if (s.what == 6) shmem::atomic_and(g, x, v, 0);
            if (s.what == 7) shmem::atomic_or(g, x, v, 0);
            if (s.what == 8) shmem::atomic_xor(g, x, v, 0);
          }
        } else {
          if (s.what == 0) shmem::atomic_fetch_nbi(g, later, x, 0);
          if (s.what == 1) shmem::atomic_fetch_add_nbi(g, later, x, v, 0);
          if (s.what == 2) shmem::atomic_swap_nbi(g, later, x, v, 0);
          if (s.what == 3) shmem::atomic_compare_swap_nbi(g, later, x, s.expected, v, 0);
          if (s.what == 4) shmem::atomic_set(g, x, v, 0);
          if constexpr (std::is_integral_v<T>) {
            if (s.what == 5) shmem::atomic_fetch_inc_nbi(g, later, x, 0);
            if (s.what == 6) shmem::atomic_fetch_and_nbi(g, later, x, v, 0);
            if (s.what == 7) shmem::atomic_fetch_or_nbi(g, later, x, v, 0);
            if (s.what == 8) shmem::atomic_fetch_xor_nbi(g, later, x, v, 0);
          }
          if (i % 5 == 4) g.quiet();
        }
      }
      g.quiet();
    });
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("random operations give and leave what a loop does", T, std::int32_t, std::uint64_t, float, double) {
  auto m = test_machine(2);
  if (!m) return;
  test::random r(31);
  INFO(r.seed);
  constexpr index_t n = 60;
  for (const level l : all_levels)
    for (const form f : {form::fetching, form::plain, form::later}) {
      CAPTURE(l);
      CAPTURE(static_cast<int>(f));
      std::vector<step<T>> steps;
      std::vector<T> given(n, poison_value<T>());
      T held = T(6);
      for (index_t i = 0; i < n; ++i) {
        const auto small = [&] { return static_cast<T>(r.below(64)); };
        const int what = static_cast<int>(r.below(std::is_integral_v<T> ? kinds : 5));
        const step<T> s{what, small(), r.below(2) == 0 ? held : small()};
        steps.push_back(s);
        if (f != form::plain && what != 4) given[static_cast<std::size_t>(i)] = held;
        held = after(s, held);
      }
      auto words = poisoned<T>(*m, 3);
      auto plan = poisoned<step<T>>(*m, n);
      auto got = poisoned<T>(*m, n);
      write(*m, words, 0, {T(1), T(6), T(2)});
      write(*m, plan, 1, steps);
      run_steps<T>(*m, words.data() + 1, plan.data(), got.data(), n, f, l);
      CHECK(read(*m, words, 0) == std::vector<T>{T(1), held, T(2)});
      CHECK(read(*m, words, 1)[1] == poison_value<T>());
      CHECK(read(*m, got, 1) == given);
      CHECK(read(*m, got, 0) == std::vector<T>(n, poison_value<T>()));
    }
}

TEST_CASE("no increment of many blocks is lost, whoever waits for its result") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr int blocks = 3;
  constexpr index_t times = 100;
  auto counts = zeroed<std::uint32_t>(*m, 1);
  auto flags = zeroed<std::uint64_t>(*m, 1);
  auto drawn = poisoned<std::uint32_t>(*m, blocks * times);
  const sym<std::uint32_t> count = counts.data();
  const sym<std::uint64_t> flag = flags.data();
  const sym<std::uint32_t> tickets = drawn.data();
  auto k = STARLING_KERNEL(block & b) {
    const int me = b.pe() * blocks + b.index();
    for (index_t i = 0; i < times; ++i) {
      if (i % 2 == 0) shmem::atomic_inc(b, count, 2);
      shmem::atomic_fetch_inc_nbi(b, tickets.on(b.pe()) + (b.index() * times + i), count, 2);
      shmem::atomic_or(b, flag, std::uint64_t{1} << me, 1);
    }
    b.quiet();
  };
  m->run(blocks, k, {.threads = 64});
  constexpr auto draws = static_cast<std::uint32_t>(3 * blocks * times);
  CHECK(read(*m, counts, 2)[0] == draws + draws / 2);
  CHECK(read(*m, flags, 1)[0] == (std::uint64_t{1} << 3 * blocks) - 1);
  std::vector<int> seen(draws + draws / 2, 0);
  for (int pe = 0; pe < 3; ++pe)
    for (const std::uint32_t t : read(*m, drawn, pe)) {
      REQUIRE(t < seen.size());
      CHECK(++seen[t] == 1);
    }
}

TEST_CASE("atomics and waits take pointers into the own copy, contexts too") {
  auto m = test_machine(2);
  if (!m) return;
  auto words = zeroed<std::int32_t>(*m, 2);
  auto results = poisoned<std::int32_t>(*m, 2);
  const sym<std::int32_t> x = words.data();
  const sym<std::int32_t> result = results.data();
  auto k = STARLING_KERNEL(block & b) {
    const int other = 1 - b.pe();
    std::int32_t* mine = x.on(b.pe());
    std::int32_t old = 0;
    {
      shmem::context c(b);
      old = shmem::atomic_fetch_add(c, mine, 5 + b.pe(), other);
      shmem::atomic_inc(c, mine + 1, other);
      shmem::wait_until(c, mine, compare::eq, 5 + other, other);
    }
    const index_t which = shmem::wait_until_any(b, mine, 2, nullptr, compare::eq, 1, other);
    if (b.all_threads().member() == 0) {
      result.on(b.pe())[0] = old;
      result.on(b.pe())[1] = static_cast<std::int32_t>(which);
    }
  };
  m->run(1, k, {.threads = 64});
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, results, pe) == std::vector<std::int32_t>{0, 1});
}

}  // namespace
}  // namespace starling::test::atomics_tests
