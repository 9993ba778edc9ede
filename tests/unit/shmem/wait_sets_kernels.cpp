// Waits for all, any and some of several words, that come in random order, with words that do not count and a value for
// each.
#include <limits>

#include "starling/shmem/wait.hpp"
#include "support/levels.hpp"
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::wait_sets_tests {
namespace {

constexpr index_t n = 70;  // more than a warp and a block of 64 have threads

// What a case waits for: word i is to be `wanted[i]` or more; those with status[i] != 0 never come.
template <class T>
struct arrival {
  explicit arrival(machine& m, test::random& r, bool each)
      : words(zeroed<T>(m, n)),
        wanted(zeroed<T>(m, n)),
        status(zeroed<int>(m, n)),
        order(zeroed<int>(m, n)),
        indices(m.allocate<index_t>(n)),
        seen(zeroed<int>(m, n)) {
    std::vector<T> start(n, std::numeric_limits<T>::min());
    std::vector<int> sent;
    for (index_t i = 0; i < n; ++i) {
      values.push_back(each ? static_cast<T>(r.below(2000) - 1000) : static_cast<T>(-3));
      excluded.push_back(i % 7 == 3 || i == 0 ? 1 + static_cast<int>(r.below(5)) : 0);
      if (excluded.back() == 0) sent.push_back(static_cast<int>(i));
    }
    for (std::size_t i = sent.size(); i > 1; --i)
      std::swap(sent[i - 1], sent[static_cast<std::size_t>(r.below(static_cast<index_t>(i)))]);
    count = static_cast<int>(sent.size());
    sent.resize(n, -1);
    write(m, words, 0, start);
    write(m, wanted, 0, values);
    write(m, wanted, 1, values);
    write(m, status, 0, excluded);
    write(m, order, 1, sent);
  }

  symmetric_array<T> words, wanted;
  symmetric_array<int> status, order;
  symmetric_array<index_t> indices;
  symmetric_array<int> seen;
  std::vector<T> values;
  std::vector<int> excluded;
  int count = 0;
};

enum class form : int { all, any, some, some_vector, any_vector, all_vector };

// PE 1 sends the words in its order; PE 0 takes them as they come and counts each.
template <class T>
void run_arrival(machine& m, const arrival<T>& a, form f, counter good, level l) {
  const sym<T> x = a.words.data();
  const sym<T> wanted = a.wanted.data();
  const sym<int> status = a.status.data();
  const sym<int> order = a.order.data();
  const sym<index_t> indices = a.indices.data();
  const sym<int> seen = a.seen.data();
  const int count = a.count;
  const T value = a.values[0];
  auto k = STARLING_KERNEL(block & b) {
    at_level(b, l, [&](const auto& g) {
      if (b.pe() == 1) {
        for (int i = 0; i < count; ++i) {
          const int to = order.on(1)[i];
          if (i % 2 == 0)
            g.p(x + to, wanted.on(1)[to], 0);
          else
            g.atomic_set(x + to, wanted.on(1)[to], 0);
        }
        return;
      }
      const int* skip = status.on(0);
      const T* each = wanted.on(0);
      if (f == form::all) {
        shmem::wait_until_all(g, x, n, skip, compare::ge, value, 1);
        good.add(g, shmem::test_all(g, x, n, skip, compare::ge, value));
      } else if (f == form::all_vector) {
        shmem::wait_until_all_vector(g, x, n, skip, compare::ge, each, 1);
        good.add(g, shmem::test_all_vector(g, x, n, skip, compare::ge, each));
      } else {
        for (int left = count; left > 0;) {
          index_t found = 1;
          index_t one = no_index;
          if (f == form::any) one = shmem::wait_until_any(g, x, n, skip, compare::ge, value, 1);
          if (f == form::any_vector) one = shmem::wait_until_any_vector(g, x, n, skip, compare::ge, each, 1);
          if (f == form::some) found = shmem::wait_until_some(g, x, n, indices.on(0), skip, compare::ge, value, 1);
          if (f == form::some_vector)
            found = shmem::wait_until_some_vector(g, x, n, indices.on(0), skip, compare::ge, each, 1);
          good.add(g, found > 0 && found <= left);
          if (one != no_index && g.member() == 0) indices.on(0)[0] = one;
          g.sync();
          if (g.member() == 0)
            for (index_t i = 0; i < found; ++i) {
              const index_t at = indices.on(0)[i];
              ++seen.on(0)[at];
              status.on(0)[at] = 1;
            }
          g.sync();
          left -= static_cast<int>(found);
        }
        good.add(g, shmem::wait_until_any(g, x, n, skip, compare::ge, value) == no_index);
        good.add(g, shmem::wait_until_some(g, x, n, indices.on(0), skip, compare::ge, value) == 0);
        good.add(g, shmem::test_any(g, x, n, skip, compare::ge, value) == no_index);
      }
    });
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("words that come in random order are each found once", T, std::int32_t, std::int64_t) {
  auto m = test_machine(2);
  if (!m) return;
  test::random r(11);
  INFO(r.seed);
  for (const level l : all_levels)
    for (const form f : {form::all, form::any, form::some, form::some_vector, form::any_vector, form::all_vector}) {
      CAPTURE(l);
      CAPTURE(static_cast<int>(f));
      const bool each = f == form::some_vector || f == form::any_vector || f == form::all_vector;
      const arrival<T> a(*m, r, each);
      const tally t(*m);
      run_arrival<T>(*m, a, f, t.counter(), l);
      CHECK(t.made() > 0);
      CHECK(t.failed() == 0);
      if (f == form::all || f == form::all_vector) continue;
      std::vector<int> once;
      for (const int e : a.excluded) once.push_back(e == 0 ? 1 : 0);
      CHECK(read(*m, a.seen, 0) == once);
    }
}

// Random words against loops of the host.
template <class T>
void run_tests(machine& m, sym<T> x, sym<T> values, sym<int> status, sym<index_t> out, int how, T value, level l) {
  auto k = STARLING_KERNEL(block & b) {
    const auto c = static_cast<compare>(how);
    const int* skip = status.on(0);
    const T* each = values.on(0);
    at_level(b, l, [&](const auto& g) {
      // The numbers that the some forms find go behind the first 6.
      index_t* o = out.on(0);
      const index_t some = shmem::test_some(g, x, n, o + 6, skip, c, value);
      const index_t some_of = shmem::test_some_vector(g, x, n, o + 6 + n, skip, c, each);
      const index_t any = shmem::test_any(g, x, n, skip, c, value);
      const index_t any_of = shmem::test_any_vector(g, x, n, skip, c, each);
      const bool all = shmem::test_all(g, x, n, skip, c, value);
      const bool all_of = shmem::test_all_vector(g, x, n, skip, c, each);
      if (g.member() != 0) return;
      o[0] = some;
      o[1] = some_of;
      o[2] = any;
      o[3] = any_of;
      o[4] = all;
      o[5] = all_of;
    });
  };
  m.run(1, k, {.threads = 64});
}

TEST_CASE_TEMPLATE("test_all, test_any and test_some agree with a loop over the words", T, std::int32_t,
                   std::uint64_t) {
  auto m = test_machine(1);
  if (!m) return;
  test::random r(23);
  INFO(r.seed);
  for (int round = 0; round < 24; ++round) {
    const level l = all_levels[round % 3];
    const int how = static_cast<int>(r.below(6));
    const auto draw = [&] { return static_cast<T>(static_cast<T>(r.below(5)) - T(2)); };
    const T value = draw();
    const bool none = round == 5;
    std::vector<T> words, values;
    std::vector<int> status;
    for (index_t i = 0; i < n; ++i) {
      // Sometimes all are alike, so that all forms are true too.
      words.push_back(round % 4 == 0 ? value : draw());
      values.push_back(round % 4 == 0 ? value : draw());
      status.push_back(none || r.below(3) == 0 ? 1 : 0);
    }
    auto x = poisoned<T>(*m, n);
    auto v = poisoned<T>(*m, n);
    auto s = poisoned<int>(*m, n);
    auto out = poisoned<index_t>(*m, 6 + 2 * n);
    write(*m, x, 0, words);
    write(*m, v, 0, values);
    write(*m, s, 0, status);
    run_tests<T>(*m, x.data(), v.data(), s.data(), out.data(), how, value, l);
    const std::vector<index_t> got = read(*m, out, 0);
    for (const bool each : {false, true}) {
      std::vector<index_t> held;
      index_t counted = 0;
      for (index_t i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (status[k] != 0) continue;
        ++counted;
        const T wanted = each ? values[k] : value;
        const auto c = static_cast<compare>(how);
        const bool yes = c == compare::eq   ? words[k] == wanted
                         : c == compare::ne ? words[k] != wanted
                         : c == compare::gt ? words[k] > wanted
                         : c == compare::ge ? words[k] >= wanted
                         : c == compare::lt ? words[k] < wanted
                                            : words[k] <= wanted;
        if (yes) held.push_back(i);
      }
      CAPTURE(round);
      CAPTURE(each);
      const std::size_t at = each ? 1 : 0;
      const auto found = static_cast<index_t>(held.size());
      CHECK(got[at] == found);
      CHECK(got[2 + at] == (held.empty() ? no_index : held.front()));
      CHECK(got[4 + at] == (found == counted ? 1 : 0));
      const std::size_t first = 6 + at * n;
      for (std::size_t i = 0; i < held.size(); ++i) CHECK(got[first + i] == held[i]);
      for (std::size_t i = held.size(); i < n; ++i) CHECK(got[first + i] == poison_value<index_t>());
    }
  }
}

TEST_CASE("waits for several words whose time passes say so, and name none") {
  auto m = test_machine(1);
  if (!m) return;
  for (const level l : all_levels) {
    CAPTURE(l);
    auto words = zeroed<std::int32_t>(*m, n);
    auto indices = poisoned<index_t>(*m, n);
    auto ends = poisoned<index_t>(*m, 4);
    const sym<std::int32_t> x = words.data();
    const sym<index_t> found = indices.data();
    const sym<index_t> out = ends.data();
    auto k = STARLING_KERNEL(block & b) {
      at_level(b, l, [&](const auto& g) {
        const auto all = shmem::wait_until_all_for(g, x, n, nullptr, compare::gt, 0, 0.002);
        const index_t any = shmem::wait_until_any_for(g, x, n, nullptr, compare::gt, 0, 0.002);
        const index_t some = shmem::wait_until_some_for(g, x, n, found.on(0), nullptr, compare::gt, 0, 0.002);
        const auto empty = shmem::wait_until_all_for(g, x, 0, nullptr, compare::gt, 0, 0.002);
        if (g.member() != 0) return;
        out.on(0)[0] = static_cast<index_t>(all);
        out.on(0)[1] = any;
        out.on(0)[2] = some;
        out.on(0)[3] = static_cast<index_t>(empty);
      });
    };
    m->run(1, k, {.threads = 64});
    CHECK(read(*m, ends, 0) == std::vector<index_t>{1, no_index, 0, 0});
    CHECK(read(*m, indices, 0) == std::vector<index_t>(n, poison_value<index_t>()));
  }
}

}  // namespace
}  // namespace starling::test::wait_sets_tests
