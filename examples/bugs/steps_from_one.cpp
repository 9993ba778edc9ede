// A program of several steps is run again, and counts its steps from 1 again: the signals, which had come to `steps`,
// go back.
#include "gallery.hpp"

namespace {

constexpr std::uint64_t steps = 3;

bool run(st::machine& m, bool fixed) {
  auto inboxes = m.allocate<std::uint64_t>(2);  // [step mod 2]
  auto signals = gallery::signals(m, 1);
  auto sums = gallery::filled(m, 1, std::uint64_t{0});
  const auto inbox = inboxes.data();
  const auto arrived = signals.data();
  const auto sum = sums.data();
  for (std::uint64_t call = 0; call < 2; ++call) {
    const std::uint64_t before = fixed ? call * steps : 0;  // wrong with 0: goes on from `steps`
    m.run(
        1, STARLING_KERNEL(st::block & b) {
          const int other = 1 - b.pe();
          std::uint64_t total = 0;
          for (std::uint64_t t = before + 1; t <= before + steps; ++t) {
            const auto slot = static_cast<st::index_t>(t % 2);
            b.put_signal(inbox + slot, [&](st::index_t) { return t; }, 1, arrived, t, other);
            b.wait(arrived, t, other);
            total += inbox.on(b.pe())[slot];
          }
          if (b.member() == 0) *sum.on(b.pe()) += total;
        });
  }
  for (int pe = 0; pe < 2; ++pe)
    if (*sums.on(pe) != 2 * steps * (2 * steps + 1) / 2) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {st::defect::signal_back, "signals only grow", 2}, run);
}
