// What a mistake looks like: two PEs wait for each other. The program ends by itself, and says who waits for whom.
#include <cstdio>

#include "starling/starling.hpp"

namespace st = starling;

int main() try {
  st::machine m = st::machine::best(2);
  auto signals = m.allocate<st::signal>(1);
  const auto arrived = signals.data();

  try {
    m.run(1,
          STARLING_KERNEL(st::block & b) {
            const int other = 1 - b.pe();
            b.wait(arrived, 1, other);  // the mistake: both wait before either signals
            b.signal_set(arrived, 1, other);
          },
          {.deadline = 0.2});
  } catch (const st::stall_error& stall) {
    std::printf("%s\n", stall.what());
    if (stall.cycle().size() != 2) return 1;
  }

  m.run(
      1, STARLING_KERNEL(st::block & b) {  // the machine is as good as new
        const int other = 1 - b.pe();
        b.signal_set(arrived, 1, other);
        b.wait(arrived, 1, other);
      });
  std::printf("the corrected program ran\n");
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
