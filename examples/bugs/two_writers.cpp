// Two PEs set one signal of a third to their own step. Whichever comes last wins, and the step of the slower may
// replace that of the faster.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto inboxes = gallery::filled(m, m.size(), -1);
  auto outcomes = gallery::filled(m, 1, 0);
  auto signals = gallery::signals(m, m.size());
  const auto inbox = inboxes.data();
  const auto outcome = outcomes.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        if (b.pe() != 0) {
          const auto value = [&](st::index_t) { return b.pe() * 10; };
          const st::index_t which = fixed ? b.pe() : 0;  // wrong with 0: one signal for two senders
          b.put_signal(inbox + b.pe(), value, 1, arrived + which, 1, 0);
          return;
        }
        for (int from = 1; from < b.n_pes(); ++from) b.wait(arrived + (fixed ? from : 0), 1, from);
        int total = 0;
        for (int from = 1; from < b.n_pes(); ++from) total += inbox.on(0)[from];
        if (b.member() == 0) *outcome.on(0) = total;
      });
  return *outcomes.on(0) == 30;
}

}  // namespace

int main(int argc, char** argv) {
  // With one thread the first seed shows the two writers, and not what comes of them: a value that is read too early.
  return gallery::show(
      argc, argv,
      {.kinds = {st::defect::two_writers}, .text = "give each sender a signal of its own", .pes = 3, .threads = 1},
      run);
}
