// Machines whose PEs are on several hosts: every call of a block gives the same by way of a card as directly.
#include <doctest/doctest.h>

#include <numeric>

#include "starling/machine/machine.hpp"
#include "starling/shmem/context.hpp"
#include "support/memory.hpp"

namespace starling::test::hosts_tests {
namespace {

const std::vector<std::vector<int>> layouts = {{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 2, 3}, {1, 0, 1, 0}};

machine machine_of(const std::vector<int>& hosts, int queue_depth = 64) {
  return machine::host(static_cast<int>(hosts.size()),
                       {.memory_bytes = std::size_t{1} << 24, .hosts = hosts, .queue_depth = queue_depth});
}

TEST_CASE("links say which PEs are behind a card, and ptr is null for them") {
  machine m = machine_of({0, 0, 1, 1});
  CHECK(m.link(0, 0) == peer_link::self);
  CHECK(m.link(0, 1) == peer_link::direct);
  CHECK(m.link(0, 2) == peer_link::card);
  CHECK(m.link(3, 1) == peer_link::card);
  auto x = zeroed<int>(m, 4);
  auto seen = zeroed<int>(m, 4);
  m.run(1, [x = x.data(), seen = seen.data()](block& b) {
    for (int pe = 0; pe < 4; ++pe) seen.on(b.pe())[pe] = b.ptr(x, pe) == x.on(pe) ? 1 : b.ptr(x, pe) == nullptr ? 2 : 3;
  });
  for (int pe = 0; pe < 4; ++pe)
    for (int other = 0; other < 4; ++other) CHECK(seen.on(pe)[other] == (pe / 2 == other / 2 ? 1 : 2));
}

TEST_CASE("puts of every size and near side arrive whole, with their signals") {
  for (const auto& hosts : layouts)
    for (const index_t n : {index_t{1}, index_t{2}, index_t{3}, index_t{4}, index_t{100}, index_t{5000}}) {
      machine m = machine_of(hosts, 4);
      auto source = zeroed<int>(m, n);
      auto box = zeroed<int>(m, 4 * n);
      auto came = zeroed<signal>(m, 4);
      auto local = m.allocate_on(0, static_cast<std::size_t>(n) * sizeof(int));
      m.run(1, [=, source = source.data(), box = box.data(), came = came.data(),
                spare = reinterpret_cast<int*>(local.data())](block& b) {
        const int me = b.pe();
        int* mine = source.on(me);
        for (index_t i = 0; i < n; ++i) mine[i] = 1000 * me + static_cast<int>(i);
        for (int pe = 0; pe < 4; ++pe) {
          if (me == 0) {
            for (index_t i = 0; i < n; ++i) spare[i] = mine[i];
            b.put_signal(box + me * n, spare, n, came + me, 1, pe);
          } else if (me == 1) {
            b.put(box + me * n, [&](index_t i) { return mine[i]; }, n, pe);
            b.fence();
            b.signal_add(came + me, 1, pe);
          } else if (me == 2) {
            b.put_nbi(box + me * n, mine, n, pe);
            b.quiet();
            b.signal_set(came + me, 1, pe);
          } else {
            const int few[2] = {mine[0], n > 1 ? mine[1] : 0};
            b.put_signal(box + me * n, few, n > 1 ? 2 : 1, came + me, 1, pe, signal_op::add);
          }
        }
        b.wait_all(came, 4, 1);
      });
      for (int pe = 0; pe < 4; ++pe)
        for (int from = 0; from < 4; ++from)
          for (index_t i = 0; i < (from == 3 ? std::min<index_t>(n, 2) : n); ++i)
            REQUIRE(box.on(pe)[from * n + i] == 1000 * from + static_cast<int>(i));
    }
}

TEST_CASE("gets, strides and single values") {
  for (const auto& hosts : layouts) {
    machine m = machine_of(hosts, 8);
    constexpr index_t n = 3000;
    auto x = zeroed<double>(m, n);
    auto y = zeroed<double>(m, n);
    auto good = zeroed<int>(m, 1);
    m.run(1, [x = x.data(), y = y.data(), good = good.data()](block& b) {
      const int me = b.pe();
      const int far = (me + 2) % 4;
      for (index_t i = 0; i < n; ++i) x.on(me)[i] = me + 0.001 * static_cast<double>(i);
      b.barrier_all();
      std::vector<double> in_process(n);
      b.get(y.on(me), x, n, far);
      b.get(in_process.data(), x, n, far);
      int right = 0;
      for (index_t i = 0; i < n; ++i)
        right += y.on(me)[i] == x.on(far)[i] && in_process[static_cast<std::size_t>(i)] == x.on(far)[i] ? 1 : 0;
      double apart[4] = {};
      b.iget(apart, 2, x, 5, 2, far);
      right += apart[0] == x.on(far)[0] && apart[2] == x.on(far)[5] ? 1 : 0;
      right += b.g(x + 7, far) == x.on(far)[7] ? 1 : 0;
      b.get_nbi(y.on(me), x + 1, 10, far);
      b.quiet();
      right += y.on(me)[9] == x.on(far)[10] ? 1 : 0;
      b.barrier_all();
      b.iput(y, 3, x.on(me), 2, 100, far);
      b.p(y + 1, 0.5, far);
      b.barrier_all();
      for (index_t i = 0; i < 100; ++i) right += y.on(me)[3 * i] == far + 0.001 * static_cast<double>(2 * i) ? 1 : 0;
      right += y.on(me)[1] == 0.5 ? 1 : 0;
      *good.on(me) = right;
    });
    for (int pe = 0; pe < 4; ++pe) CHECK(*good.on(pe) == n + 3 + 101);
  }
}

TEST_CASE("atomic operations of all kinds and both sizes, several PEs at once") {
  for (const auto& hosts : layouts) {
    machine m = machine_of(hosts);
    auto ints = zeroed<int>(m, 4);
    auto longs = zeroed<std::int64_t>(m, 4);
    auto reals = zeroed<double>(m, 2);
    auto good = zeroed<int>(m, 1);
    constexpr int times = 50;
    m.run(2, [ints = ints.data(), longs = longs.data(), reals = reals.data(), good = good.data()](block& b) {
      for (int i = 0; i < times; ++i) {
        b.atomic_fetch_add(ints, -1, 0);
        b.atomic_inc(longs, 0);
        b.atomic_fetch_add(reals, 0.5, 0);
        b.atomic_fetch_xor(ints + 1, 1, 0);
        while (b.atomic_compare_swap(longs + 1, 0, b.pe() + 1, 0, cuda::memory_order_acquire) != 0) {
        }
        // Under the lock, without atomic operations.
        const double old = b.g(reals + 1, 0);
        b.p(reals + 1, old + 1, 0);
        b.quiet();
        b.atomic_set(longs + 1, 0, 0, cuda::memory_order_release);
      }
      b.atomic_or(ints + 2, 1 << (2 * b.pe() + b.index()), 0);
      b.atomic_and(longs + 3, ~std::int64_t{0}, 0);
      const int before = b.atomic_swap(ints + 3, 7, b.pe());
      int fetched = -1;
      b.quiet();
      b.atomic_fetch_nbi(&fetched, ints + 3, b.pe());
      b.quiet();
      if (b.index() == 0) *good.on(b.pe()) = (before == 0 || before == 7) && fetched == 7 ? 1 : 0;
    });
    CHECK(ints.on(0)[0] == -8 * times);
    CHECK(longs.on(0)[0] == 8 * times);
    CHECK(reals.on(0)[0] == 4.0 * times);
    CHECK(ints.on(0)[1] == 0);
    CHECK(ints.on(0)[2] == 255);
    CHECK(reals.on(0)[1] == 8.0 * times);
    for (int pe = 0; pe < 4; ++pe) CHECK(*good.on(pe) == 1);
  }
}

TEST_CASE("barriers, reductions and broadcasts meet across hosts") {
  for (const auto& hosts : layouts) {
    machine m = machine_of(hosts);
    auto sums = zeroed<double>(m, 3);
    m.run(3, [sums = sums.data()](block& b) {
      double sum = 0;
      for (int i = 0; i < 20; ++i) {
        sum = b.all_reduce(1.0 + b.pe() + b.index() + i, plus{});
        b.sync_all();
      }
      const double said = b.broadcast(b.pe() == 3 ? 42.0 : 0.0, 3);
      sums.on(b.pe())[b.index()] = sum + 1000 * said;
    });
    for (int pe = 0; pe < 4; ++pe)
      for (int i = 0; i < 3; ++i) CHECK(sums.on(pe)[i] == 12 * 20.0 + 3 * 6 + 4 * 3 + 42000.0);
  }
}

TEST_CASE("contexts have queues of their own, and what a kernel leaves on its way arrives") {
  machine m = machine_of({0, 1}, 2);
  auto x = zeroed<int>(m, 300);
  m.run(1, [x = x.data()](block& b) {
    if (b.pe() == 1) return;
    const shmem::context first(b);
    const shmem::context second(b);
    for (int i = 0; i < 100; ++i) {
      first.p(x + i, i, 1);
      second.p(x + 100 + i, i, 1);
      b.p(x + 200 + i, i, 1);
    }
    first.quiet();
    second.fence();
  });
  for (int i = 0; i < 300; ++i) CHECK(x.on(1)[i] == i % 100);
}

TEST_CASE("70,000 puts with signals: indices of 16 bits wrap on a ring of 4") {
  machine m = machine_of({0, 1}, 4);
  auto x = zeroed<std::int64_t>(m, 1);
  auto came = zeroed<signal>(m, 1);
  constexpr int n = 35000;  // two entries each
  m.run(1, [x = x.data(), came = came.data()](block& b) {
    if (b.pe() == 0) {
      for (int i = 1; i <= n; ++i)
        b.put_signal(x, [i](index_t) { return i; }, 1, came, static_cast<std::uint64_t>(i), 1);
    } else {
      for (int i = 1000; i <= n; i += 1000) b.wait(came, static_cast<std::uint64_t>(i), 0);
    }
  });
  CHECK(*x.on(1) == n);
  CHECK(came.on(1)->value == n);
}

TEST_CASE("launches of streams reach other hosts") {
  machine m = machine_of({0, 1});
  auto x = zeroed<int>(m, 2);
  stream s = m.new_stream(0);
  s.launch(2, [x = x.data()](block& b) { b.p(x + b.index(), 5 + b.index(), 1); });
  s.synchronize();
  CHECK(x.on(1)[0] == 5);
  CHECK(x.on(1)[1] == 6);
}

}  // namespace
}  // namespace starling::test::hosts_tests
