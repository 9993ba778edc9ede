// The receiver waits for the first of two signals, the sender raises the second: nothing will ever come.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto inboxes = m.allocate<int>(1);
  auto outcomes = gallery::filled(m, 1, 0);
  auto signals = gallery::signals(m, 2);
  const auto inbox = inboxes.data();
  const auto outcome = outcomes.data();
  const auto from_left = signals.data();
  const auto from_right = signals.data() + 1;
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = b.pe() + 1;
        const auto value = [&](st::index_t) { return b.pe() + 5; };
        // Wrong: to the one on the right this PE is the left neighbour.
        if (right < b.n_pes()) b.put_signal(inbox, value, 1, fixed ? from_left : from_right, 1, right);
        if (b.pe() > 0) {
          b.wait(from_left, 1, b.pe() - 1);
          if (b.member() == 0) *outcome.on(b.pe()) = *inbox.on(b.pe());
        }
      });
  for (int pe = 1; pe < m.size(); ++pe)
    if (*outcomes.on(pe) != pe + 4) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::lost_signal}, "no block has waited for it: is that the one?"}, run);
}
