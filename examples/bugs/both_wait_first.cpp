// Two PEs swap values, and each waits for the other's before it sends its own.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto inboxes = m.allocate<int>(1);
  auto outcomes = gallery::filled(m, 1, 0);
  auto signals = gallery::signals(m, 1);
  const auto inbox = inboxes.data();
  const auto outcome = outcomes.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int other = 1 - b.pe();
        const auto mine = [&](st::index_t) { return 7 + b.pe(); };
        if (!fixed) b.wait(arrived, 1, other);  // wrong: nobody has sent yet
        b.put_signal(inbox, mine, 1, arrived, 1, other);
        if (fixed) b.wait(arrived, 1, other);
        if (b.member() == 0) *outcome.on(b.pe()) = *inbox.on(b.pe());
      });
  return *outcomes.on(0) == 8 && *outcomes.on(1) == 7;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::deadlock}, "wait-for cycle: PE 0 block 0 -> PE 1 block 0 -> PE 0", 2},
                       run);
}
