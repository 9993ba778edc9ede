// Graphs: recorded once, launched many times, with work on several PEs. Misuse is in misuse/recording_kernels.cpp.
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::graph_tests {
namespace {

struct step {
  sym<std::uint32_t> x;
  index_t n;
  std::uint32_t add;

  STARLING_HD void operator()(block& b) const {
    b.for_each(b.my_share(n), [&](index_t i) { x.on(b.pe())[i] = 3 * x.on(b.pe())[i] + add; });
  }
};

// The same by the host.
std::uint32_t steps(std::uint32_t x, int launches, std::uint32_t adds) {
  for (int i = 0; i < launches; ++i)
    for (std::uint32_t add = 0; add < adds; ++add) x = 3 * x + add;
  return x;
}

TEST_CASE("recording runs nothing; each launch runs all of it, in order") {
  auto m = test_machine(1);
  if (!m) return;
  constexpr index_t n = 333;
  auto a = zeroed<std::uint32_t>(*m, n);
  auto b = poisoned<std::uint32_t>(*m, n);
  stream s = m->new_stream(0);
  const graph g = m->record(s, [&] {
    for (std::uint32_t i = 0; i < 4; ++i) s.launch(2, step{a.data(), n, i});
    s.copy(b.on(0), a.on(0), n * sizeof(std::uint32_t));
  });
  s.synchronize();
  CHECK(read(*m, a, 0) == std::vector<std::uint32_t>(n, 0));
  CHECK(read(*m, b, 0) == std::vector<std::uint32_t>(n, poison_value<std::uint32_t>()));
  for (int i = 0; i < 25; ++i) g.launch(s);
  s.synchronize();
  CHECK(read(*m, a, 0) == std::vector<std::uint32_t>(n, steps(0, 25, 4)));
  CHECK(read(*m, b, 0) == std::vector<std::uint32_t>(n, steps(0, 25, 4)));
}

TEST_CASE("a graph is one operation of its stream") {
  auto m = test_machine(1);
  if (!m) return;
  auto a = zeroed<std::uint32_t>(*m, 50);
  stream s = m->new_stream(0);
  const graph g = m->record(s, [&] { s.launch(1, step{a.data(), 50, 5}); });
  std::uint32_t x = 0;
  for (std::uint32_t i = 0; i < 10; ++i) {
    s.launch(1, step{a.data(), 50, i});
    g.launch(s);
    x = 3 * (3 * x + i) + 5;
  }
  s.synchronize();
  CHECK(read(*m, a, 0) == std::vector<std::uint32_t>(50, x));
}

// PE 0 hands its data to all others, each works on it, and PE 0 collects the results.
TEST_CASE("fork and join over PEs, launched many times") {
  auto m = test_machine(4);
  if (!m) return;
  constexpr index_t n = 200;
  constexpr std::size_t bytes = n * sizeof(std::uint32_t);
  auto in = zeroed<std::uint32_t>(*m, n);
  auto work = poisoned<std::uint32_t>(*m, n);
  auto out = poisoned<std::uint32_t>(*m, 4 * n);
  std::vector<stream> s;
  std::vector<event> done;
  for (int pe = 0; pe < 4; ++pe) {
    s.push_back(m->new_stream(pe));
    done.push_back(m->new_event(pe));
  }
  event forked = m->new_event(0);
  const graph g = m->record(s[0], [&] {
    s[0].launch(1, step{in.data(), n, 1});
    s[0].record(forked);
    for (std::size_t pe = 1; pe < 4; ++pe) {
      s[pe].wait(forked);
      s[pe].copy(work.on(static_cast<int>(pe)), in.on(0), bytes);
      s[pe].launch(2, step{work.data(), n, static_cast<std::uint32_t>(pe)});
      s[pe].copy(out.on(0) + static_cast<index_t>(pe) * n, work.on(static_cast<int>(pe)), bytes);
      s[pe].record(done[pe]);
    }
    for (std::size_t pe = 1; pe < 4; ++pe) s[0].wait(done[pe]);
    s[0].copy(out.on(0), in.on(0), bytes);
  });
  std::uint32_t x = 0;
  for (int i = 0; i < 30; ++i) {
    g.launch(s[0]);
    x = 3 * x + 1;
    if (i % 10 != 9) continue;
    s[0].synchronize();
    std::vector<std::uint32_t> wanted(n, x);
    for (std::uint32_t pe = 1; pe < 4; ++pe) wanted.insert(wanted.end(), n, 3 * x + pe);
    CHECK(read(*m, out, 0) == wanted);
  }
}

TEST_CASE("streams and events that took part are as usable as before") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = zeroed<std::uint32_t>(*m, 10);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  event forked = m->new_event(0);
  event joined = m->new_event(1);
  const auto fork_and_join = [&] {
    s.record(forked);
    t.wait(forked);
    t.launch(1, step{a.data(), 10, 7});
    t.record(joined);
    s.wait(joined);
  };
  const graph g = m->record(s, fork_and_join);
  fork_and_join();
  s.synchronize();
  CHECK(read(*m, a, 1) == std::vector<std::uint32_t>(10, 7));
  g.launch(s);
  s.synchronize();
  CHECK(read(*m, a, 1) == std::vector<std::uint32_t>(10, 28));
  CHECK(joined.done());
}

TEST_CASE("a graph may be launched into another stream than it was recorded on") {
  auto m = test_machine(1);
  if (!m) return;
  auto a = zeroed<std::uint32_t>(*m, 10);
  stream s = m->new_stream(0);
  stream other = m->new_stream(0);
  const graph g = m->record(s, [&] { s.launch(1, step{a.data(), 10, 7}); });
  g.launch(other);
  other.synchronize();
  CHECK(read(*m, a, 0) == std::vector<std::uint32_t>(10, 7));
}

TEST_CASE("events made for one recording need not outlive it") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = zeroed<std::uint32_t>(*m, 10);
  stream s = m->new_stream(0);
  stream t = m->new_stream(1);
  const graph g = m->record(s, [&] {
    event forked = m->new_event(0);
    event joined = m->new_event(1);
    s.record(forked);
    t.wait(forked);
    t.launch(1, step{a.data(), 10, 9});
    t.record(joined);
    s.wait(joined);
  });
  g.launch(s);
  s.synchronize();
  CHECK(read(*m, a, 1) == std::vector<std::uint32_t>(10, 9));
}

TEST_CASE("a graph may be destroyed while its last launch still runs") {
  auto m = test_machine(2);
  if (!m) return;
  for (int again = 0; again < 20; ++again) {
    auto a = zeroed<std::uint32_t>(*m, 10);
    stream s = m->new_stream(0);
    stream t = m->new_stream(1);
    event forked = m->new_event(0);
    event joined = m->new_event(1);
    {
      const graph g = m->record(s, [&] {
        s.record(forked);
        t.wait(forked);
        for (std::uint32_t i = 0; i < 20; ++i) t.launch(1, step{a.data(), 10, i});
        t.record(joined);
        s.wait(joined);
      });
      g.launch(s);
    }
    s.synchronize();
    CHECK(read(*m, a, 1) == std::vector<std::uint32_t>(10, steps(0, 1, 20)));
  }
}

}  // namespace
}  // namespace starling::test::graph_tests
