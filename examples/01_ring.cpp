// The first program: every PE sends a greeting to its right neighbour and waits for the one from its left.
// Runs on all GPUs of the machine, or on virtual devices; the source does not know.
#include <cstdio>

#include "starling/starling.hpp"

namespace st = starling;

int main() try {
  st::machine m = st::machine::best();
  std::printf("%s\n", m.choice().c_str());

  // Symmetric memory: the same array on every PE. Kernels get plain handles to it.
  auto greetings = m.allocate<int>(1);
  auto signals = m.allocate<st::signal>(1);
  const auto greeting = greetings.data();
  const auto arrived = signals.data();

  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        const auto number = [&](st::index_t) { return 100 + b.pe(); };
        b.put_signal(greeting, number, 1, arrived, 1, right);  // the data, then the signal
        b.wait(arrived, 1, left);                              // who sees the signal sees the data
      });

  bool right = true;
  for (int pe = 0; pe < m.size(); ++pe) {
    int got = 0;
    m.copy(&got, greetings.on(pe), sizeof got);
    std::printf("PE %d got %d\n", pe, got);
    right = right && got == 100 + (pe + m.size() - 1) % m.size();
  }
  return right ? 0 : 1;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
