// A lock made of atomic operations: taken with acquire, given back with release. Blocks of all PEs count numbers, and
// add what they have counted to a histogram of PE 0, one block at a time.
#include <cstdio>
#include <vector>

#include "starling/starling.hpp"

namespace st = starling;

int main() try {
  st::machine m = st::machine::best();
  constexpr st::index_t bins = 8;
  constexpr st::index_t numbers = 1000;  // of each block
  constexpr int blocks = 3;
  constexpr int most_tries = 10'000'000;  // a loop of tries has no deadline, so it has an end of its own
  auto histograms = m.allocate<int>(bins);
  auto locks = m.allocate<int>(1);  // the word of PE 0 is the lock; 1: taken
  auto gave_up = m.allocate<int>(1);
  for (int pe = 0; pe < m.size(); ++pe) {
    m.fill(histograms.on(pe), 0, bins * sizeof(int));
    m.fill(locks.on(pe), 0, sizeof(int));
    m.fill(gave_up.on(pe), 0, sizeof(int));
  }
  const auto histogram = histograms.data();
  const auto lock = locks.data();
  const auto failed = gave_up.data();

  const auto kernel = STARLING_KERNEL(st::block & b) {
    int* counted = b.scratch<int>(bins);
    int* all = b.scratch<int>(bins);
    b.for_each(bins, [&](st::index_t i) { counted[i] = 0; });
    b.sync();
    if (b.member() == 0) {
      for (st::index_t i = 0; i < numbers; ++i) ++counted[(i * i + 7 * (b.pe() * blocks + b.index())) % bins];
    }
    b.sync();

    int tries = 0;
    while (b.atomic_compare_swap(lock, 0, 1, 0, cuda::memory_order_acquire) != 0)
      if (++tries == most_tries) {
        (void)b.atomic_fetch_add(failed, 1, 0);
        return;
      }
    b.get(all, histogram, bins, 0);  // what the last holder put is there: its release came after
    b.for_each(bins, [&](st::index_t i) { all[i] += counted[i]; });
    b.sync();
    b.put(histogram, all, bins, 0);
    b.atomic_set(lock, 0, 0, cuda::memory_order_release);  // completes the put, then gives the lock back
  };
  m.run(blocks, kernel, {.scratch_bytes = 2 * bins * sizeof(int)});

  std::vector<int> result(bins);
  int given_up = 0;
  m.copy(result.data(), histograms.on(0), result.size() * sizeof(int));
  m.copy(&given_up, gave_up.on(0), sizeof given_up);
  std::vector<int> wanted(bins, 0);
  for (int who = 0; who < m.size() * blocks; ++who)
    for (st::index_t i = 0; i < numbers; ++i) ++wanted[static_cast<std::size_t>((i * i + 7 * who) % bins)];
  for (std::size_t i = 0; i < result.size(); ++i) std::printf("%zu: %d\n", i, result[i]);
  std::printf("%d PEs, %d blocks each: %s\n", m.size(), blocks, given_up == 0 && result == wanted ? "right" : "wrong");
  return given_up == 0 && result == wanted ? 0 : 1;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
