// Two PEs keep in step by a signal each. The program is run again and counts its steps from 1 again: the signals, which
// had come to `steps`, go back.
#include "gallery.hpp"

namespace {

constexpr std::uint64_t steps = 3;

bool run(st::machine& m, bool fixed) {
  auto signals = gallery::signals(m, 1);
  auto counts = gallery::filled(m, 1, 0);
  const auto arrived = signals.data();
  const auto count = counts.data();
  for (std::uint64_t call = 0; call < 2; ++call) {
    const std::uint64_t before = fixed ? call * steps : 0;  // wrong with 0: does not go on from `steps`
    m.run(
        1, STARLING_KERNEL(st::block & b) {
          const int other = 1 - b.pe();
          for (std::uint64_t t = before + 1; t <= before + steps; ++t) {
            b.signal_set(arrived, t, other);
            b.wait(arrived, t, other);
            if (b.member() == 0) ++*count.on(b.pe());
          }
        });
  }
  return *counts.on(0) == 2 * steps && *counts.on(1) == 2 * steps;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::signal_back}, "signals only grow", 2}, run);
}
