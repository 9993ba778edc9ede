// PEs on several hosts in check mode: right programs pass whatever cards do, wrong ones are found as without cards, and
// a seed is one run.
#include "starling/shmem/context.hpp"
#include "support/checked.hpp"

namespace starling::test::cards_tests {
namespace {

constexpr index_t n = 40;

machine machine_on_hosts(std::vector<int> hosts, int queue_depth = 4, std::uint64_t seeds = few_seeds,
                         std::uint64_t first = 1) {
  const auto pes = static_cast<int>(hosts.size());
  return machine::host(pes,
                       {.memory_bytes = std::size_t{1} << 22, .hosts = std::move(hosts), .queue_depth = queue_depth})
      .check({.first_seed = first, .seeds = seeds, .threads = 1});
}

// A ring of PEs: each puts to its right neighbour, with a credit back.
auto ring(sym<int> box, sym<int> mine, sym<signal> came, sym<signal> taken, int rounds) {
  return [=](block& b) {
    const int right = (b.pe() + 1) % b.n_pes();
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    for (int r = 1; r <= rounds; ++r) {
      const auto number = static_cast<std::uint64_t>(r);
      b.for_each(n, [&](index_t i) { mine.on(b.pe())[i] = 100 * b.pe() + r + static_cast<int>(i); });
      if (r > 1) b.wait(taken, number - 1, right);
      b.put_signal(box, mine.on(b.pe()), n, came, number, right);
      b.wait(came, number, left);
      int wrong = 0;
      b.for_each(n, [&](index_t i) { wrong += box.on(b.pe())[i] == 100 * left + r + static_cast<int>(i) ? 0 : 1; });
      if (wrong > 0) throw std::runtime_error("wrong data");
      b.signal_set(taken, number, left);
    }
  };
}

struct ring_arrays {
  machine m;
  symmetric_array<int> box = m.allocate<int>(n);
  symmetric_array<int> mine = m.allocate<int>(n);
  symmetric_array<signal> signals = m.allocate<signal>(2);
  auto kernel(int rounds) { return ring(box.data(), mine.data(), signals.data(), signals.data() + 1, rounds); }
};

TEST_CASE("a ring of PEs on two and four hosts, on rings of 2 and 64") {
  for (const auto& hosts : {std::vector<int>{0, 0, 1, 1}, std::vector<int>{0, 1, 2, 3}})
    for (const int depth : {2, 64}) {
      ring_arrays a{machine_on_hosts(hosts, depth)};
      CHECK_NOTHROW(a.m.run(1, a.kernel(3)));
    }
}

TEST_CASE("the same seed is the same run") {
  const auto count = [](std::uint64_t seed) {
    ring_arrays a{machine_on_hosts({0, 1}, 4, 1, seed)};
    a.m.run(1, a.kernel(3));
    return std::pair(a.m.checked().calls, a.m.checked().deliveries);
  };
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) CHECK(count(seed) == count(seed));
}

TEST_CASE("barriers, reductions and contexts across hosts") {
  machine m = machine_on_hosts({0, 1, 1});
  auto x = zeroed<int>(m, 3);
  CHECK_NOTHROW(m.run(2, [x = x.data()](block& b) {
    const shmem::context c(b);
    c.p(x + b.index(), b.pe(), (b.pe() + 1) % 3);
    c.quiet();
    b.barrier_all();
    if (b.all_reduce(1.0, plus{}) != 6.0) throw std::runtime_error("wrong sum");
    if (x.on(b.pe())[b.index()] != (b.pe() + 2) % 3) throw std::runtime_error("wrong value");
    if (b.broadcast(b.pe(), 2) != 2) throw std::runtime_error("wrong root");
  }));
}

TEST_CASE("what was put is not there by a signal that nothing orders behind it") {
  machine m = machine_on_hosts({0, 1});
  auto x = zeroed<int>(m, n);
  auto came = zeroed<signal>(m, 1);
  check_finds(m, 1,
              [x = x.data(), came = came.data()](block& b) {
                if (b.pe() == 0) {
                  b.put(x, x.on(0), n, 1);
                  b.signal_set(came, 1, 1);
                } else {
                  b.wait(came, 1, 0);
                  int sum = 0;
                  b.for_each(n, [&](index_t i) { sum += x.on(1)[i]; });
                  x.on(1)[0] = sum;
                }
              },
              defect::unordered_read, {"cards.cpp"});
}

TEST_CASE("quiet and fence of another context do not count") {
  for (const bool fence : {false, true}) {
    machine m = machine_on_hosts({0, 1});
    auto x = zeroed<int>(m, n);
    auto came = zeroed<signal>(m, 1);
    check_finds(m, 1,
                [fence, x = x.data(), came = came.data()](block& b) {
                  if (b.pe() == 0) {
                    const shmem::context one(b);
                    const shmem::context other(b);
                    one.put(x, x.on(0), n, 1);
                    if (fence)
                      other.fence();
                    else
                      other.quiet();
                    other.signal_set(came, 1, 1);
                  } else {
                    b.wait(came, 1, 0);
                    x.on(1)[0] = x.on(1)[1];
                  }
                },
                defect::unordered_read, {"cards.cpp"});
  }
}

TEST_CASE("a source that is used again before quiet") {
  machine m = machine_on_hosts({0, 1});
  auto x = zeroed<int>(m, n);
  const auto e = finding_of([&] {
    m.run(1, [x = x.data()](block& b) {
      if (b.pe() != 0) return;
      b.put_nbi(x, x.on(0), n, 1);
      x.on(0)[3] = 1;
      b.quiet();
    });
  });
  REQUIRE(e);
  check_parts(e->what(), {"cards.cpp"});
}

TEST_CASE("a plain load from another host is foreign") {
  machine m = machine_on_hosts({0, 1});
  auto x = zeroed<int>(m, n);
  check_finds(m, 1,
              [x = x.data()](block& b) {
                if (b.ptr(x, 1 - b.pe()) != nullptr) throw std::runtime_error("there is no such pointer");
                if (b.pe() == 0) x.on(0)[0] = x.on(1)[1];
              },
              defect::foreign_access, {"cards.cpp"});
}

TEST_CASE("a signal that nobody raises is a deadlock still") {
  machine m = machine_on_hosts({0, 1});
  auto came = zeroed<signal>(m, 1);
  const auto e = finding_of([&] { m.run(1, [came = came.data()](block& b) { b.wait(came, 1, 1 - b.pe()); }); });
  REQUIRE(e);
  CHECK(e->what_kind() != defect::network);
}

TEST_CASE("a hundred schedules a second") {
  ring_arrays a{machine_on_hosts({0, 0, 1, 1}, 8, 100)};
  a.m.run(1, a.kernel(3));
  MESSAGE("schedules a second: ", static_cast<double>(a.m.checked().schedules) / a.m.checked().seconds);
}

}  // namespace
}  // namespace starling::test::cards_tests
