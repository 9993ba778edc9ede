// sync, sync_pe, sync_all, barrier_all: repeated thousands of times, with data that shows when a block came too early.
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::sync_tests {
namespace {

struct size {
  int pes, blocks, rounds;
};

// Few blocks for long, and many more blocks than a small machine has cores.
constexpr size sizes[] = {{1, 1, 2000}, {1, 2, 3000}, {2, 2, 2000}, {4, 1, 2000}, {4, 32, 25}};

STARLING_HD int stamp(int pe, int block, int round) {
  return static_cast<int>(mix(static_cast<std::uint64_t>(pe), static_cast<std::uint64_t>(block), round));
}

TEST_CASE("after sync_pe every block sees what the others of its PE wrote before") {
  for (const size s : sizes) {
    CAPTURE(s.pes);
    CAPTURE(s.blocks);
    auto m = test_machine(s.pes);
    if (!m) return;
    auto slots = poisoned<int>(*m, s.blocks);
    const sym<int> x = slots.data();
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      index_t wrong = 0;
      for (int round = 0; round < s.rounds; ++round) {
        if (b.member() == 0) x.on(b.pe())[b.index()] = stamp(b.pe(), b.index(), round);
        b.sync_pe();
        b.for_each(s.blocks, [&](index_t i) { wrong += x.on(b.pe())[i] != stamp(b.pe(), static_cast<int>(i), round); });
        b.sync_pe();
      }
      good.add(b, s.rounds, wrong);
    };
    m->run(s.blocks, k, {.threads = 64});
    CHECK(t.made() == static_cast<std::uint64_t>(s.pes * s.blocks * s.rounds * (on_gpus() ? 64 : 1)));
    CHECK(t.failed() == 0);
  }
}

TEST_CASE("after sync_all gets see what the others wrote to their own memory before") {
  for (const size s : sizes) {
    CAPTURE(s.pes);
    CAPTURE(s.blocks);
    auto m = test_machine(s.pes);
    if (!m) return;
    auto slots = poisoned<int>(*m, s.blocks);
    const sym<int> x = slots.data();
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      index_t wrong = 0;
      for (int round = 0; round < s.rounds; ++round) {
        if (b.member() == 0) x.on(b.pe())[b.index()] = stamp(b.pe(), b.index(), round);
        b.sync_all();
        for (int pe = 0; pe < b.n_pes(); ++pe) {
          const int other = (b.index() + round) % s.blocks;
          wrong += b.g(x + other, pe) != stamp(pe, other, round);
        }
        b.sync_all();
      }
      good.add(b, s.rounds, wrong);
    };
    m->run(s.blocks, k, {.threads = 64});
    CHECK(t.made() == static_cast<std::uint64_t>(s.pes * s.blocks * s.rounds * (on_gpus() ? 64 : 1)));
    CHECK(t.failed() == 0);
  }
}

TEST_CASE("after barrier_all the puts of all blocks have arrived") {
  for (const size s : sizes) {
    CAPTURE(s.pes);
    CAPTURE(s.blocks);
    auto m = test_machine(s.pes);
    if (!m) return;
    auto slots = poisoned<int>(*m, s.pes * s.blocks);
    const sym<int> x = slots.data();
    const tally t(*m);
    const counter good = t.counter();
    auto k = STARLING_KERNEL(block & b) {
      index_t wrong = 0;
      const index_t mine = b.pe() * s.blocks + b.index();
      for (int round = 0; round < s.rounds; ++round) {
        for (int pe = 0; pe < b.n_pes(); ++pe) b.p(x + mine, stamp(b.pe(), b.index(), round), pe);
        b.barrier_all();
        b.for_each(s.pes, s.blocks, [&](index_t pe, index_t i) {
          wrong += x.on(b.pe())[pe * s.blocks + i] != stamp(static_cast<int>(pe), static_cast<int>(i), round);
        });
        b.barrier_all();
      }
      good.add(b, s.rounds, wrong);
    };
    m->run(s.blocks, k, {.threads = 64});
    CHECK(t.made() == static_cast<std::uint64_t>(s.pes * s.blocks * s.rounds * (on_gpus() ? 64 : 1)));
    CHECK(t.failed() == 0);
  }
}

TEST_CASE("sync orders the threads of a block") {
  auto m = test_machine(1);
  if (!m) return;
  auto slots = poisoned<int>(*m, 256);
  const sym<int> x = slots.data();
  const tally t(*m);
  const counter good = t.counter();
  auto k = STARLING_KERNEL(block & b) {
    index_t wrong = 0;
    for (int round = 0; round < 500; ++round) {
      x.on(0)[b.member()] = round + b.member();
      b.sync();
      const int other = (b.member() + 37) % b.members();
      wrong += x.on(0)[other] != round + other;
      b.sync();
    }
    good.add(b, 500, wrong);
  };
  m->run(1, k);
  CHECK(t.made() > 0);
  CHECK(t.failed() == 0);
}

TEST_CASE("barriers of all kinds in one program") {
  auto m = test_machine(2);
  if (!m) return;
  const tally t(*m);
  const counter good = t.counter();
  auto slots = zeroed<std::uint64_t>(*m, 1);
  const sym<std::uint64_t> x = slots.data();
  auto k = STARLING_KERNEL(block & b) {
    for (std::uint64_t round = 0; round < 300; ++round) {
      b.atomic_fetch_add(x, 1, b.pe());
      b.sync_pe();
      good.add(b, b.atomic_fetch(x, b.pe()) == 3 * (round + 1));
      const int sum = b.all_reduce(b.index() + 10 * b.pe(), plus{});
      good.add(b, sum == 36);
      good.add(b, b.broadcast(round + b.pe(), 1) == round + 1);
      b.sync_all();
    }
  };
  m->run(3, k, {.threads = 32});
  CHECK(t.made() == 2u * 3 * 3 * 300 * (on_gpus() ? 32 : 1));
  CHECK(t.failed() == 0);
}

}  // namespace
}  // namespace starling::test::sync_tests
