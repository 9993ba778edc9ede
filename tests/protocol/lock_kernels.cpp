// The queue of a lock: blocks enter one at a time and in the order in which they have asked, and see what all before
// them have written, wherever that is.
#include "starling/shmem/lock.hpp"

#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::lock_tests {
namespace {

constexpr int blocks = 2;

// Every block writes a row of its own into the memory of every PE while it holds the lock; the next one finds the row
// of the one before whole.
TEST_CASE("what is written under a lock is there for the next who holds it") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr int rounds = 4;
  constexpr index_t n = 9;
  auto owner = shmem::make_lock(*m, blocks);
  const shmem::lock lock = owner.handle();
  auto rows = zeroed<std::uint64_t>(*m, n);
  auto mine = poisoned<std::uint64_t>(*m, blocks * n);
  auto inside = zeroed<int>(*m, 1);
  const sym<std::uint64_t> row = rows.data();
  const sym<std::uint64_t> source = mine.data();
  const sym<int> entered = inside.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    std::uint64_t* from = source.on(b.pe()) + b.index() * n;
    for (int round = 0; round < rounds; ++round) {
      shmem::set_lock(b, lock);
      good.add(b, b.atomic_fetch_add(entered, 1, 0) == 0);
      const std::uint64_t last = b.g(row, b.pe());
      bool whole = true;
      for (int pe = 0; pe < b.n_pes(); ++pe)
        for (index_t i = 0; i < n; ++i)
          whole = whole && b.g(row + i, pe) == (last == 0 ? 0 : last + static_cast<std::uint64_t>(i));
      good.add(b, whole);
      b.sync();
      const std::uint64_t next = mix(last, static_cast<std::uint64_t>(b.pe() * blocks + b.index())) >> 1;
      b.for_each(n, [&](index_t i) { from[i] = next + static_cast<std::uint64_t>(i); });
      b.sync();
      for (int pe = 0; pe < b.n_pes(); ++pe) b.put_nbi(row, from, n, pe);
      good.add(b, b.atomic_fetch_add(entered, -1, 0) == 1);
      shmem::clear_lock(b, lock);
    }
  };
  m->run(blocks, k, {.threads = 64});
  CHECK(t.made() >= 3u * 3 * blocks * rounds);
  CHECK(t.failed() == 0);
  CHECK(read(*m, rows, 0) == read(*m, rows, 2));
}

// Each block asks only when the one before it stands in the queue, while the first holds the lock until all do.
TEST_CASE("blocks get a lock in the order in which they ask") {
  constexpr int pes = 3;
  auto m = test_machine(pes);
  if (!m) return;
  constexpr int all = pes * blocks;
  for (const std::uint64_t seed : {1, 2, 3}) {
    test::random r(seed);
    INFO(r.seed);
    // The blocks in the order in which they are to ask.
    std::vector<int> order;
    for (int i = 0; i < all; ++i) order.push_back(i);
    for (int i = all; i > 1; --i)
      std::swap(order[static_cast<std::size_t>(i - 1)], order[static_cast<std::size_t>(r.below(i))]);
    auto owner = shmem::make_lock(*m, blocks, 1);
    const shmem::lock lock = owner.handle();
    auto plan = zeroed<int>(*m, all);
    auto logs = poisoned<int>(*m, all + 1);
    auto lengths = zeroed<int>(*m, 1);
    for (int pe = 0; pe < pes; ++pe) write(*m, plan, pe, order);
    const sym<int> asks = plan.data();
    const sym<int> log = logs.data();
    const sym<int> length = lengths.data();
    auto k = STARLING_KERNEL(block & b) {
      const int me = b.pe() * blocks + b.index();
      int place = 0;
      while (asks.on(b.pe())[place] != me) ++place;
      const auto stands = [&](int who) {
        const std::uint64_t number = lock.number_of(who / blocks, who % blocks);
        while (b.atomic_fetch(lock.tail(), lock.home(), cuda::memory_order_acquire) != number) {
        }
      };
      if (place > 0) stands(asks.on(b.pe())[place - 1]);
      shmem::set_lock(b, lock);
      if (place == 0) stands(asks.on(b.pe())[all - 1]);
      const int at = b.g(length, 0);
      b.sync();  // every thread has got it
      b.p(log + at, me, 0);
      b.p(length, at + 1, 0);
      shmem::clear_lock(b, lock);
    };
    m->run(blocks, k, {.threads = 64});
    order.push_back(poison_value<int>());
    CHECK(read(*m, logs, 0) == order);
  }
}

}  // namespace
}  // namespace starling::test::lock_tests
