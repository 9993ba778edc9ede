// A user's program with a kernel of its own, on two virtual devices.
#include <cstdio>

#include "starling/starling.hpp"

int main() {
  auto machine = starling::machine::host(2);
  machine.run(3, STARLING_KERNEL(starling::block & b) { b.sync_all(); });
  std::printf("a program of 3 blocks ran on %d devices\n", machine.size());
  return machine.size() == 2 ? 0 : 1;
}
