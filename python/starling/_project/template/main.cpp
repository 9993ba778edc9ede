// Runs the kernel on all GPUs of the machine, or on virtual devices.
#include <cstdio>

#include "kernel.hpp"

int main() try {
  auto m = starling::machine::best();
  std::printf("%s\n", m.choice().c_str());
  int pe = 0;
  for (const int sum : sum_over_ring(m)) std::printf("PE %d has the sum %d\n", pe++, sum);
} catch (const starling::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
