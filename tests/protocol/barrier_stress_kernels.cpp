// Barriers and reductions under stress: the blocks do uneven amounts of work between them, and the data that each
// barrier must order is checked after it.
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::barrier_stress_tests {
namespace {

struct uneven {
  std::uint64_t seed;
  int rounds;
  sym<std::uint64_t> own;    // [blocks] written by the PE itself
  sym<std::uint64_t> boxes;  // [pes][blocks] written by puts
  counter good;

  STARLING_HD std::uint64_t value(int pe, int index, int round) const {
    return mix(seed, static_cast<std::uint64_t>(pe * 1000 + index), static_cast<std::uint64_t>(round));
  }

  // Different for every block and round, and sometimes long.
  STARLING_HD std::uint64_t loiter(const block& b, int round) const {
    std::uint64_t x = value(b.pe(), b.index(), round);
    for (std::uint64_t i = x % 64 == 0 ? 3000 : x % 40; i > 0; --i) x = mix(x);
    return x;
  }

  STARLING_HD void operator()(block& b) const {
    const int blocks = b.blocks_per_pe();
    index_t wrong = 0;
    std::uint64_t idle = 0;
    for (int round = 1; round <= rounds; ++round) {
      idle += loiter(b, round);
      if (b.member() == 0) own.on(b.pe())[b.index()] = value(b.pe(), b.index(), round);
      for (int pe = 0; pe < b.n_pes(); ++pe) b.p(boxes + (b.pe() * blocks + b.index()), value(b.pe(), pe, round), pe);
      switch (mix(seed, round) % 3) {  // the same for all blocks
        case 0:
          b.barrier_all();
          break;
        case 1:
          b.quiet();
          b.sync_pe();
          b.sync_all();
          break;
        default:
          b.barrier_all();
          b.sync_pe();
          break;
      }
      b.for_each(b.n_pes(), blocks, [&](index_t pe, index_t i) {
        wrong += boxes.on(b.pe())[pe * blocks + i] != value(static_cast<int>(pe), b.pe(), round);
      });
      const int other = static_cast<int>(mix(seed, round, 1) % static_cast<std::uint64_t>(b.n_pes()));
      const int index = static_cast<int>(mix(seed, round, 2) % static_cast<std::uint64_t>(blocks));
      wrong += b.g(own + index, other) != value(other, index, round);
      idle += loiter(b, -round);
      wrong += b.all_reduce(value(b.pe(), b.index(), round), plus{}) != sum(b, round);
      wrong += b.broadcast(value(b.pe(), 0, round), other) != value(other, 0, round);
      b.sync_all();
    }
    good.add(b, rounds, wrong);
    good.add(b, idle != 1);  // so that the work is not thrown out
  }

  STARLING_HD std::uint64_t sum(const block& b, int round) const {
    std::uint64_t all = 0;
    for (int pe = 0; pe < b.n_pes(); ++pe)
      for (int i = 0; i < b.blocks_per_pe(); ++i) all += value(pe, i, round);
    return all;
  }
};

void run_uneven(int pes, int blocks, int rounds, std::uint64_t start) {
  const random r(start);
  INFO("seed ", r.seed);
  CAPTURE(pes);
  CAPTURE(blocks);
  auto m = test_machine(pes);
  if (!m) return;
  const auto own = poisoned<std::uint64_t>(*m, blocks);
  const auto boxes = poisoned<std::uint64_t>(*m, pes * blocks);
  const tally t(*m);
  m->run(blocks, uneven{r.seed, rounds, own.data(), boxes.data(), t.counter()}, {.threads = 64});
  CHECK(t.made() == static_cast<std::uint64_t>(pes * blocks * (rounds + 1) * (on_gpus() ? 64 : 1)));
  CHECK(t.failed() == 0);
}

TEST_CASE("uneven blocks meet at barriers: one block per PE") { run_uneven(4, 1, 1500, 11); }

TEST_CASE("uneven blocks meet at barriers: several blocks per PE") { run_uneven(3, 4, 400, 12); }

TEST_CASE("uneven blocks meet at barriers: one PE") { run_uneven(1, 6, 600, 13); }

TEST_CASE("uneven blocks meet at barriers: many more blocks than cores") { run_uneven(4, 32, 20, 14); }

}  // namespace
}  // namespace starling::test::barrier_stress_tests
