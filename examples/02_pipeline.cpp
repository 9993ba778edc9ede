// A one-way pipeline: PE 0 produces, every PE adds its number, the last one keeps. Each stage has two slots. The sender
// needs a credit before it writes a slot again: without it, it would overtake a slow receiver.
#include <cstdio>
#include <vector>

#include "starling/starling.hpp"

namespace st = starling;

int main() try {
  st::machine m = st::machine::best();
  constexpr int items = 200;
  constexpr st::index_t width = 64;
  auto slots = m.allocate<int>(2 * width);
  auto results = m.allocate<int>(items);
  auto signals = m.allocate<st::signal>(2);
  const auto slot = slots.data();
  const auto result = results.data();
  const auto full = signals.data();       // items that have arrived here
  const auto empty = signals.data() + 1;  // items that the next stage has taken from us

  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const bool first = b.pe() == 0;
        const bool last = b.pe() == b.n_pes() - 1;
        for (int item = 1; item <= items; ++item) {
          const auto number = static_cast<std::uint64_t>(item);
          const int* in = slot.on(b.pe()) + item % 2 * width;
          if (!first) b.wait(full, number, b.pe() - 1);
          const auto value = [&](st::index_t i) { return (first ? item * static_cast<int>(i) : in[i]) + b.pe(); };
          if (last) {
            if (b.member() == 0) result.on(b.pe())[item - 1] = value(width - 1);
            b.sync();
          } else {
            if (item > 2) b.wait(empty, number - 2, b.pe() + 1);  // the credit
            b.put_signal(slot + item % 2 * width, value, width, full, number, b.pe() + 1);
          }
          if (!first) b.signal_set(empty, number, b.pe() - 1);
        }
      });

  std::vector<int> got(items);
  m.copy(got.data(), results.on(m.size() - 1), items * sizeof(int));
  const int added = m.size() * (m.size() - 1) / 2;
  for (int item = 1; item <= items; ++item)
    if (got[static_cast<std::size_t>(item - 1)] != item * static_cast<int>(width - 1) + added) return 1;
  std::printf("%d items went through %d PEs\n", items, m.size());
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
