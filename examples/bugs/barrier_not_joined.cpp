// A barrier under a condition that does not hold on every PE: those that are in it wait for one that never comes.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto inboxes = gallery::filled(m, 1, -1);
  auto sums = gallery::filled(m, 1, 0);
  const auto inbox = inboxes.data();
  const auto sum = sums.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const bool last = b.pe() == b.n_pes() - 1;
        if (!last) b.p(inbox, b.pe(), b.pe() + 1);
        if (fixed || !last) b.barrier_all();  // wrong: the last PE has nothing to send, and does not join either
        if (b.member() == 0) *sum.on(b.pe()) = *inbox.on(b.pe()) + 1;
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (*sums.on(pe) != pe) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {st::defect::lost_signal, "PE 3 block 0 (all) has returned from the kernel"}, run);
}
