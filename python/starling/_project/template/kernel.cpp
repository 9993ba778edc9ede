// The PEs form a ring. In each round a PE hands the number it holds to its right neighbour and adds the one it gets.
#include "kernel.hpp"

namespace st = starling;

std::vector<int> sum_over_ring(st::machine& m) {
  auto inboxes = m.allocate<int>(1);  // symmetric memory: one on every PE
  auto sums = m.allocate<int>(1);
  auto signals = m.allocate<st::signal>(1);
  const auto inbox = inboxes.data();
  const auto sum = sums.data();
  const auto arrived = signals.data();

  m.run(
      1, STARLING_KERNEL(st::block & b) {  // one block on every PE
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        int held = b.pe() + 1;
        int total = held;
        for (int round = 1; round < b.n_pes(); ++round) {
          b.put_signal(inbox, [&](st::index_t) { return held; }, 1, arrived, round, right);  // data, then the signal
          b.wait(arrived, round, left);  // the signal, then the data
          held = *inbox.on(b.pe());
          total += held;
          b.sync_all();  // the next number may come only when everybody has read this one
        }
        if (b.member() == 0) *sum.on(b.pe()) = total;
      });

  std::vector<int> result(m.size());
  for (int pe = 0; pe < m.size(); ++pe) m.copy(&result[pe], sums.on(pe), sizeof(int));
  return result;
}
