// A barrier under a condition that does not hold on every PE: those that are in it wait for one that never comes.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto inboxes = gallery::filled(m, m.size(), 0);
  auto totals = gallery::filled(m, 1, -1);
  const auto inbox = inboxes.data();
  const auto total = totals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const bool idle = b.pe() == 2;  // has nothing to send
        if (!fixed && idle) return;     // wrong: leaves the others in the barrier
        if (!idle) b.p(inbox + b.pe(), b.pe() + 1, 0);
        b.barrier_all();
        if (b.pe() != 0) return;
        int sum = 0;
        for (int from = 0; from < b.n_pes(); ++from) sum += inbox.on(0)[from];
        if (b.member() == 0) *total.on(0) = sum;
      });
  return *totals.on(0) == 1 + 2 + 4;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::lost_signal}, "PE 2 block 0 (all) has returned from the kernel"}, run);
}
