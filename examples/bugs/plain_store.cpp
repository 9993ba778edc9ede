// on(pe) gives the address on any PE, and on one host a plain store to it even works; but nothing orders it, no fence
// and no quiet covers it, and on another host there is no such address.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto inboxes = gallery::filled(m, 1, 0);
  auto outcomes = gallery::filled(m, 1, 0);
  const auto inbox = inboxes.data();
  const auto outcome = outcomes.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        if (fixed)
          b.p(inbox, 10 + b.pe(), right);
        else if (b.member() == 0)
          *inbox.on(right) = 10 + b.pe();  // wrong: another PE's memory
        b.barrier_all();
        if (b.member() == 0) *outcome.on(b.pe()) = *inbox.on(b.pe());
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (*outcomes.on(pe) != 10 + (pe + m.size() - 1) % m.size()) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::foreign_access}, "use put, p or put_signal"}, run);
}
