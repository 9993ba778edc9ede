// After a misuse: that the same machine still runs a correct program.
#pragma once

#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {  // a type of its own for each source: some are compiled for virtual devices only

// Every block puts a value into the slot of its number at the right neighbour; after the barrier all have arrived.
struct meet_and_shift {
  sym<int> slots;

  STARLING_HD void operator()(block& b) const {
    const int right = (b.pe() + 1) % b.n_pes();
    b.p(slots + b.index(), 100 * b.pe() + b.index(), right);
    b.barrier_all();
    const int sum = b.all_reduce(slots.on(b.pe()) [b.index()], plus {});
    if (b.member() == 0) slots.on(b.pe())[b.index()] += 10000 * sum;
  }
};

inline void check_usable(machine& m) {
  constexpr int blocks = 2;
  const int n = m.size();
  auto slots = poisoned<int>(m, blocks);
  m.run(blocks, meet_and_shift{slots.data()});
  const int sum = blocks * 100 * n * (n - 1) / 2 + n;
  for (int pe = 0; pe < n; ++pe) {
    const int left = (pe + n - 1) % n;
    CHECK(read(m, slots, pe) == std::vector<int>{10000 * sum + 100 * left, 10000 * sum + 100 * left + 1});
  }
}

}  // namespace
}  // namespace starling::test
