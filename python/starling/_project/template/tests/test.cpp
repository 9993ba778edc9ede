// The kernel on virtual devices in check mode: the sum must be right in every order of events.
#include "../kernel.hpp"

#include <cstdio>

int main() try {
  auto m = starling::machine::host(4).check({.seeds = 200});
  for (const int sum : sum_over_ring(m)) {
    if (sum != 1 + 2 + 3 + 4) {
      std::fprintf(stderr, "a PE has the sum %d, not 10\n", sum);
      return 1;
    }
  }
  const auto checked = m.checked();
  std::printf("nothing found; loads and stores %s\n", checked.accesses_seen ? "seen" : "not seen");
} catch (const starling::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
