// Every call of a block by way of a card, on virtual devices and on GPUs whose PEs are on two hosts.
#include "starling/shmem/context.hpp"
#include "starling/shmem/rma.hpp"
#include "starling/shmem/signals.hpp"
#include "support/levels.hpp"
#include "support/memory.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::cards_tests {
namespace {

constexpr launch_options small{.threads = 64, .scratch_bytes = 4096, .deadline = 5};

std::optional<machine> two_hosts(int pes, int depth = 64) {
  host_options o;
  for (int pe = 0; pe < pes; ++pe) o.hosts.push_back(2 * pe / pes);
  o.queue_depth = depth;
  return test_machine(pes, o);
}

STARLING_HD int element_of(int pe, int round, index_t i) { return 1000000 * pe + 10000 * round + static_cast<int>(i); }

// To and fro between two PEs.
void ping_pong(machine& m, sym<int> x, sym<signal> came, int rounds) {
  auto k = STARLING_KERNEL(block & b) {
    for (int round = 1; round <= rounds; ++round) {
      const auto number = static_cast<std::uint64_t>(round);
      if (round % 2 == b.pe()) {
        const int value = element_of(b.pe(), 0, round);
        b.put_signal(x, &value, 1, came, number, 1 - b.pe());
      } else {
        b.wait(came, number, 1 - b.pe());
      }
    }
  };
  m.run(1, k, small);
}

TEST_CASE("a word and its signal go to another host and back") {
  auto m = two_hosts(2);
  if (!m) return;
  CHECK(m->link(0, 1) == peer_link::card);
  auto x = zeroed<int>(*m, 1);
  auto came = zeroed<signal>(*m, 1);
  ping_pong(*m, x.data(), came.data(), 10);
  CHECK(read(*m, x, 0)[0] == element_of(1, 0, 9));
  CHECK(read(*m, x, 1)[0] == element_of(0, 0, 10));
}

TEST_CASE("a ring of 4 entries, for more than 65,536 of them") {
  auto m = two_hosts(2, 4);
  if (!m || m->checking()) return;  // check mode begins before 65,536 by itself
  auto sum = zeroed<signal>(*m, 1);
  auto run = [&m](sym<signal> s) {
    auto k = STARLING_KERNEL(block & b) {
      constexpr std::uint64_t calls = 70000;
      for (std::uint64_t i = 0; i < calls; ++i) b.signal_add(s, 1, 1 - b.pe());
      b.wait(s, calls, 1 - b.pe());
    };
    m->run(1, k, {.threads = 32, .deadline = 20});
  };
  run(sum.data());
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, sum, pe)[0].value == 70000);
}

// Each PE to each: from symmetric memory, scratch memory and a function, by all groups.
void exchange(machine& m, sym<int> box, sym<int> source, sym<signal> came, index_t n, level by, counter good) {
  auto k = STARLING_KERNEL(block & b) {
    const int me = b.pe();
    int* fast = b.scratch<int>(100);
    for (int round = 0; round < 3; ++round) {
      const index_t size = round == 1 && n > 100 ? 100 : n;
      b.for_each(size, [&](index_t i) { (round == 1 ? fast : source.on(me))[i] = element_of(me, round, i); });
      b.sync();
      at_level(b, by, [&](const auto& g) {
        for (int pe = 0; pe < b.n_pes(); ++pe) {
          const sym<int> to = box + me * n;
          if (round == 0)
            g.put_signal(to, source.on(me), size, came + me, 1, pe);
          else if (round == 1)
            g.put_signal(to, fast, size, came + me, 1, pe, signal_op::add);
          else
            g.put_signal(to, [=](index_t i) { return element_of(me, 2, i); }, size, came + me, 3, pe);
        }
      });
      b.wait_all(came, b.n_pes(), static_cast<std::uint64_t>(round) + 1);
      for (int from = 0; from < b.n_pes(); ++from)
        b.for_each(size, [&](index_t i) { good.add(b, box.on(me)[from * n + i] == element_of(from, round, i)); });
      b.barrier_all();
    }
  };
  m.run(1, k, small);
}

TEST_CASE("puts of every size and near side arrive whole, before their signals") {
  for (const int pes : {2, 4})
    for (const level by : all_levels)
      for (const index_t n : {index_t{1}, index_t{3}, index_t{4}, index_t{100}, index_t{5000}}) {
        CAPTURE(pes);
        CAPTURE(by);
        CAPTURE(n);
        auto m = two_hosts(pes, 4);
        if (!m) return;
        auto box = zeroed<int>(*m, n * pes);
        auto source = zeroed<int>(*m, n);
        auto came = zeroed<signal>(*m, pes);
        const tally t(*m);
        exchange(*m, box.data(), source.data(), came.data(), n, by, t.counter());
        CHECK(t.made() > 0);
        CHECK(t.failed() == 0);
      }
}

void other_calls(machine& m, sym<double> x, sym<double> y, index_t n, counter good) {
  auto k = STARLING_KERNEL(block & b) {
    const int me = b.pe();
    const int far = (me + b.n_pes() / 2) % b.n_pes();
    const auto value = [](int pe, index_t i) { return pe + 0.001 * static_cast<double>(i); };
    b.for_each(n, [&](index_t i) { x.on(me)[i] = value(me, i); });
    b.barrier_all();
    good.add(b, (b.ptr(x, far) == nullptr) && b.ptr(x, me) == x.on(me));
    b.get(y.on(me), x, n, far);
    b.for_each(n, [&](index_t i) { good.add(b, y.on(me)[i] == value(far, i)); });
    b.sync();
    good.add(b, b.g(x + 7, far) == value(far, 7));
    b.iget(y.on(me), 2, x, 5, 20, far);
    b.for_each(20, [&](index_t i) { good.add(b, y.on(me)[2 * i] == value(far, 5 * i)); });
    b.barrier_all();
    b.iput(y, 3, x.on(me), 2, 100, far);
    b.p(y + 1, 0.5, far);
    b.barrier_all();
    b.for_each(100, [&](index_t i) { good.add(b, y.on(me)[3 * i] == value(far, 2 * i)); });
    good.add(b, y.on(me)[1] == 0.5);
    const double sum = b.all_reduce(static_cast<double>(me), plus{});
    good.add(b, sum == b.n_pes() * (b.n_pes() - 1) / 2.0);
    good.add(b, b.broadcast(me == 1 ? 2.5 : 0.0, 1) == (b.index() == 0 ? 2.5 : 2.5));
  };
  m.run(1, k, small);
}

TEST_CASE("gets, strides, single values, barriers and reductions") {
  for (const int pes : {2, 4}) {
    CAPTURE(pes);
    auto m = two_hosts(pes);
    if (!m) return;
    constexpr index_t n = 3000;
    auto x = zeroed<double>(*m, n);
    auto y = zeroed<double>(*m, n);
    const tally t(*m);
    other_calls(*m, x.data(), y.data(), n, t.counter());
    CHECK(t.made() > 0);
    CHECK(t.failed() == 0);
  }
}

void count_up(machine& m, sym<int> ints, sym<double> reals, int times) {
  auto k = STARLING_KERNEL(block & b) {
    const auto one = [&](const auto& g) {
      for (int i = 0; i < times; ++i) {
        const int pe = i % b.n_pes();
        g.atomic_add(ints, 1, pe);
        (void)g.atomic_fetch_add(reals, 0.5, pe);
        g.atomic_inc(ints + 1, pe);
        g.atomic_xor(ints + 2, 1 << (i % 8), pe);
        while (g.atomic_compare_swap(ints + 3, 0, 1, pe, cuda::memory_order_acquire) != 0) {
        }
        const int seen = g.g(ints + 4, pe);
        g.sync();  // every thread has got it
        g.p(ints + 4, seen + 1, pe);
        g.atomic_set(ints + 3, 0, pe, cuda::memory_order_release);
      }
    };
    if (b.index() == 0)
      one(b);
    else
      at_level(b, level::warp, one);
    b.barrier_all();
  };
  m.run(2, k, small);
}

TEST_CASE("atomic operations of all kinds, several blocks at once, and a lock made of them") {
  for (const int pes : {2, 4}) {
    CAPTURE(pes);
    auto m = two_hosts(pes);
    if (!m) return;
    auto ints = zeroed<int>(*m, 8);
    auto reals = zeroed<double>(*m, 1);
    const int times = 8 * pes;
    count_up(*m, ints.data(), reals.data(), times);
    for (int pe = 0; pe < pes; ++pe) {
      const std::vector<int> found = read(*m, ints, pe);
      const int each = times / pes * 2 * pes;  // by 2 blocks of all PEs
      CHECK(found[0] == each);
      CHECK(found[1] == each);
      CHECK(found[3] == 0);
      CHECK(found[4] == each);
      CHECK(read(*m, reals, pe)[0] == 0.5 * each);
    }
  }
}

// All warps, and then all threads, of a block at the same queue.
void share_queue(machine& m, sym<int> box, sym<signal> came, counter good) {
  auto k = STARLING_KERNEL(block & b) {
    const int far = 1 - b.pe();
    const warp w = b.warp();
    int* mine = box.on(b.pe());
    for (int round = 1; round <= 20; ++round) {
      const int value[4] = {round, w.rank(), b.pe(), 7};
      w.put_signal(box + 4 * w.rank(), [&](index_t i) { return value[i]; }, 4, came, 1, far, signal_op::add);
      b.wait(came, static_cast<std::uint64_t>(round * w.count()), far);
      b.for_each(w.count(), [&](index_t i) {
        good.add(b, mine[4 * i] == round && mine[4 * i + 1] == i && mine[4 * i + 2] == far && mine[4 * i + 3] == 7);
      });
      b.barrier_all();
    }
    b.thread().atomic_add(box + 1000, 1, far);
    b.barrier_all();
    good.add(b, mine[1000] == b.members());
  };
  m.run(1, k, {.threads = 256, .deadline = 5});
}

TEST_CASE("warps and threads of a block that share a queue") {
  for (const int depth : {2, 64}) {
    CAPTURE(depth);
    auto m = two_hosts(2, depth);
    if (!m) return;
    auto box = zeroed<int>(*m, 1001);
    auto came = zeroed<signal>(*m, 1);
    const tally t(*m);
    share_queue(*m, box.data(), came.data(), t.counter());
    CHECK(t.made() > 0);
    CHECK(t.failed() == 0);
  }
}

void by_contexts(machine& m, sym<int> x, sym<signal> came, counter good) {
  auto k = STARLING_KERNEL(block & b) {
    const int far = 1 - b.pe();
    int* mine = x.on(b.pe());
    b.for_each(600, [&](index_t i) { mine[i] = element_of(b.pe(), 1, i); });
    b.sync();
    {
      shmem::context left(b);
      shmem::context right(b);
      shmem::put_nbi(left, x + 600, mine, 300, far);
      shmem::put_nbi(right, x + 900, mine + 300, 300, far);
      left.fence();
      shmem::signal_set(left, came, 1, far);
      right.quiet();
      shmem::signal_set(right, came + 1, 1, far);
    }
    b.wait(came, 1, far);
    b.wait(came + 1, 1, far);
    b.for_each(600, [&](index_t i) { good.add(b, mine[600 + i] == element_of(far, 1, i)); });
  };
  m.run(1, k, small);
}

TEST_CASE("contexts have queues of their own") {
  auto m = two_hosts(2);
  if (!m) return;
  auto x = zeroed<int>(*m, 1200);
  auto came = zeroed<signal>(*m, 2);
  const tally t(*m);
  by_contexts(*m, x.data(), came.data(), t.counter());
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

// What a kernel leaves on its way, by many blocks.
void leave_puts(machine& m, sym<int> x, index_t each) {
  auto k = STARLING_KERNEL(block & b) {
    const int far = 1 - b.pe();
    int* mine = x.on(b.pe()) + b.index() * each;
    b.for_each(each, [&](index_t i) { mine[i] = element_of(b.pe(), b.index(), i); });
    b.sync();
    b.put_nbi(x + (b.blocks_per_pe() + b.index()) * each, mine, each, far);
  };
  m.run(16, k, small);
}

TEST_CASE("what a kernel leaves on its way arrives before the run ends") {
  auto m = two_hosts(2);
  if (!m) return;
  constexpr index_t each = 1000;
  auto x = zeroed<int>(*m, 32 * each);
  for (int round = 0; round < 3; ++round) leave_puts(*m, x.data(), each);
  for (int pe = 0; pe < 2; ++pe) {
    const std::vector<int> all = read(*m, x, pe);
    int wrong = 0;
    for (int b = 0; b < 16; ++b)
      for (index_t i = 0; i < each; ++i)
        wrong += all[static_cast<std::size_t>((16 + b) * each + i)] == element_of(1 - pe, b, i) ? 0 : 1;
    CHECK(wrong == 0);
  }
}

// A PE's memory ends before what is asked for: a GPU's block does not know, and its card does.
void write_beyond(machine& m, sym<int> x, sym<signal> never) {
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) b.put_nbi(x + (index_t{1} << 44), x.on(0), 100, 1);
    b.wait(never, 1, 1 - b.pe());
  };
  m.run(1, k, small);
}

TEST_CASE("a card's error ends every wait") {
  if (!on_gpus()) return;
  auto m = two_hosts(2);
  if (!m) return;
  auto x = zeroed<int>(*m, 100);
  auto never = zeroed<signal>(*m, 1);
  try {
    write_beyond(*m, x.data(), never.data());
    FAIL("no network_error");
  } catch (const network_error& e) {
    CHECK(e.pe() == 0);
    CHECK(e.peer() == 1);
    CHECK(e.status_text() == "remote access error");
    CHECK(e.file().find("cards_kernels.cpp") != std::string::npos);
  }
  auto came = zeroed<signal>(*m, 1);
  ping_pong(*m, x.data(), came.data(), 4);  // the machine is as before
}

// A block that waits for ever, with nothing wrong at the card: the deadline ends it, and the card with it.
void wait_for_nothing(machine& m, sym<signal> never) {
  auto k = STARLING_KERNEL(block & b) { b.wait(never, 1, 1 - b.pe()); };
  m.run(1, k, {.threads = 64, .deadline = 0.2});
}

TEST_CASE("an idle card ends with its program") {
  auto m = two_hosts(2);
  if (!m || m->checking()) return;  // check mode does not wait for the deadline
  auto never = zeroed<signal>(*m, 1);
  CHECK_THROWS_AS(wait_for_nothing(*m, never.data()), stall_error);
  auto x = zeroed<int>(*m, 1);
  auto came = zeroed<signal>(*m, 1);
  ping_pong(*m, x.data(), came.data(), 4);
}

}  // namespace
}  // namespace starling::test::cards_tests
