// Waits for one word: comparisons at the ends of each type, whoever writes it, times that pass, values that are their
// own flags.
#include "starling/shmem/wait.hpp"

#include <limits>

#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::wait_tests {
namespace {

template <class T>
std::vector<T> ends_of() {
  return {static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(0), T(1)};
}

STARLING_HD inline bool compares(auto seen, compare how, auto wanted) {
  return how == compare::eq   ? seen == wanted
         : how == compare::ne ? seen != wanted
         : how == compare::gt ? seen > wanted
         : how == compare::ge ? seen >= wanted
         : how == compare::lt ? seen < wanted
                              : seen <= wanted;
}

template <class T>
void run_comparisons(machine& m, sym<T> seen, sym<T> wanted, index_t n, counter good, level l) {
  auto k = STARLING_KERNEL(block & b) {
    at_level(b, l, [&](const auto& g) {
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j)
          for (int h = 0; h < 6; ++h) {
            const auto how = static_cast<compare>(h);
            const T value = wanted.on(b.pe())[j];
            const bool yes = compares(seen.on(b.pe())[i], how, value);
            good.add(g, shmem::test(g, seen + i, how, value) == yes);
            if (yes) shmem::wait_until(g, seen + i, how, value);
            if (yes) good.add(g, shmem::wait_until_for(g, seen + i, how, value, 1e-3) == wait_status::came);
          }
    });
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("comparisons are those of the word's type", T, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  auto m = test_machine(1);
  if (!m) return;
  const std::vector<T> ends = ends_of<T>();
  const auto n = static_cast<index_t>(ends.size());
  auto seen = poisoned<T>(*m, n);
  auto wanted = poisoned<T>(*m, n);
  write(*m, seen, 0, ends);
  write(*m, wanted, 0, ends);
  for (const level l : all_levels) {
    CAPTURE(l);
    const tally t(*m);
    run_comparisons<T>(*m, seen.data(), wanted.data(), n, t.counter(), l);
    CHECK(t.made() >= static_cast<std::uint64_t>(6 * n * n));
    CHECK(t.failed() == 0);
  }
}

enum class writer : int { put, atomic, released, fenced };

// PE 1 changes a word of PE 0 from `before` to `after`, step by step; PE 0 waits until it compares. The data written
// before is seen where the writer has ordered it.
template <class T>
void run_writers(machine& m, sym<T> word, sym<int> data, sym<signal> turn, T before, T after, compare how, T wanted,
                 writer by, counter good, level l) {
  auto k = STARLING_KERNEL(block & b) {
    at_level(b, l, [&](const auto& g) {
      for (int step = 1; step <= 20; ++step) {
        const auto number = static_cast<std::uint64_t>(step);
        if (b.pe() == 1) {
          g.wait(turn, number, 0);
          if (by == writer::fenced || by == writer::released) g.p(data, step, 0);
          if (by == writer::fenced) g.fence();
          if (by == writer::put || by == writer::fenced)
            g.p(word, after, 0);
          else
            g.atomic_set(word, after, 0,
                         by == writer::released ? cuda::memory_order_release : cuda::memory_order_relaxed);
          g.wait(turn + 1, number, 0);
        } else {
          g.atomic_set(word, before, 0);
          g.sync();
          g.signal_set(turn, number, 1);
          shmem::wait_until(g, word, how, wanted, 1);
          if (by == writer::fenced || by == writer::released) good.add(g, *data.on(0) == step);
          g.sync();
          g.signal_set(turn + 1, number, 1);
        }
      }
    });
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("a wait ends when somebody changes the word: by a put, an atomic operation, with data before it", T,
                   std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  auto m = test_machine(2);
  if (!m) return;
  const T lowest = std::numeric_limits<T>::min();
  const T highest = std::numeric_limits<T>::max();
  const T last = static_cast<T>(-1);  // the highest of unsigned types
  struct change {
    T before, after;
    compare how;
    T wanted;
  };
  const change changes[] = {{lowest, highest, compare::gt, lowest}, {highest, lowest, compare::lt, highest},
                            {T(3), last, compare::eq, last},        {last, T(3), compare::ne, last},
                            {lowest, T(1), compare::ge, T(1)},      {highest, T(0), compare::le, T(1)}};
  for (const level l : all_levels)
    for (const writer by : {writer::put, writer::atomic, writer::released, writer::fenced})
      for (const change& c : changes) {
        CAPTURE(l);
        CAPTURE(static_cast<int>(by));
        CAPTURE(symbol(c.how));
        auto words = zeroed<T>(*m, 1);
        auto data = zeroed<int>(*m, 1);
        auto turns = zeroed<signal>(*m, 2);
        const tally t(*m);
        run_writers<T>(*m, words.data(), data.data(), turns.data(), c.before, c.after, c.how, c.wanted, by, t.counter(),
                       l);
        CHECK(t.failed() == 0);
        CHECK((t.made() >= 20) == (by == writer::fenced || by == writer::released));
      }
}

TEST_CASE("a wait with a time of its own says when it has passed, and the program goes on") {
  auto m = test_machine(2);
  if (!m) return;
  for (const level l : all_levels) {
    CAPTURE(l);
    auto words = zeroed<std::int64_t>(*m, 1);
    auto ends = poisoned<int>(*m, 3);
    const sym<std::int64_t> x = words.data();
    const sym<int> how_it_ended = ends.data();
    auto k = STARLING_KERNEL(block & b) {
      at_level(b, l, [&](const auto& g) {
        if (b.pe() == 0) {
          const auto first = shmem::wait_until_for(g, x, compare::lt, 0, 0.002, 1);
          const auto none = shmem::wait_until_for(g, x, compare::lt, 0, 0.0, 1);
          g.atomic_set(x, 5, 1);  // the other one has waited for nothing else
          auto last = wait_status::timed_out;
          while (last == wait_status::timed_out) last = shmem::wait_until_for(g, x, compare::lt, 0, 0.05, 1);
          if (g.member() == 0) {
            how_it_ended.on(0)[0] = static_cast<int>(first);
            how_it_ended.on(0)[1] = static_cast<int>(none);
            how_it_ended.on(0)[2] = static_cast<int>(last);
          }
        } else {
          shmem::wait_until(g, x, compare::eq, 5, 0);
          g.atomic_set(x, -7, 0);
        }
      });
    };
    m->run(1, k, {.threads = 64});
    CHECK(read(*m, ends, 0) == std::vector<int>{1, 1, 0});
  }
}

template <class T>
void run_values(machine& m, sym<T> box, sym<T> source, sym<T> got, T absent, index_t n, level l) {
  auto k = STARLING_KERNEL(block & b) {
    const int right = (b.pe() + 1) % b.n_pes();
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    at_level(b, l, [&](const auto& g) {
      for (index_t i = 0; i < n; ++i) g.p(box + i, source.on(b.pe())[i], right);
      for (index_t i = 0; i < n; ++i) {
        const T value = shmem::take_value(g, box + i, absent, left);
        if (g.member() == 0) {
          got.on(b.pe())[i] = value;
          box.on(b.pe())[i] = absent;  // free again
        }
      }
    });
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("a value that is its own flag is taken once it is there", T, std::int32_t, std::uint64_t, float,
                   double) {
  auto m = test_machine(3);
  if (!m) return;
  constexpr index_t n = 40;
  const T absent = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(-1);
  test::random r(5);
  INFO(r.seed);
  for (const level l : all_levels) {
    CAPTURE(l);
    auto boxes = m->template allocate<T>(n);
    auto sources = poisoned<T>(*m, n);
    auto got = poisoned<T>(*m, n);
    std::vector<std::vector<T>> sent(3);
    for (int pe = 0; pe < 3; ++pe) {
      for (index_t i = 0; i < n; ++i) sent[static_cast<std::size_t>(pe)].push_back(static_cast<T>(r.below(1000) + 1));
      write(*m, boxes, pe, std::vector<T>(n, absent));
      write(*m, sources, pe, sent[static_cast<std::size_t>(pe)]);
    }
    run_values<T>(*m, boxes.data(), sources.data(), got.data(), absent, n, l);
    for (int pe = 0; pe < 3; ++pe) CHECK(read(*m, got, pe) == sent[static_cast<std::size_t>((pe + 2) % 3)]);
  }
}

}  // namespace
}  // namespace starling::test::wait_tests
