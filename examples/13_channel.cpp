// A channel: numbered messages, each sent the way that is fastest for its size. PE 0 sends vectors of growing length to
// PE 1, which adds them up; the receiver's credits tell the sender when a slot is free again.
#include <cstdio>
#include <vector>

#include "starling/starling.hpp"

namespace st = starling;

int main() try {
  st::machine m = st::machine::best(2);
  if (m.size() < 2) m = st::machine::host(2);
  constexpr st::index_t longest = 8192;  // 64 KiB: too long for packets
  auto vectors = m.allocate_channel<double>(longest, {.slots = 3});
  auto sums = m.allocate<double>(14);
  const auto c = vectors.handle();
  const auto sum = sums.data();

  m.run(
      1, STARLING_KERNEL(st::block & b) {
        std::uint64_t number = 0;
        for (st::index_t n = 1; n <= longest; n *= 2) {
          ++number;
          if (b.pe() == 0) {
            b.await_credit(c, number, 1);
            b.send(c, [=](st::index_t i) { return static_cast<double>(i % 10); }, n, number, 1);
          } else if (b.pe() == 1) {
            const auto x = b.receive(c, n, number, 0);
            double mine = 0;
            b.for_each(n, [&](st::index_t i) { mine += x(i); });
            const double all = b.reduce(mine, st::plus());
            b.give_credit(c, number, 0);
            if (b.member() == 0) sum.on(1)[number - 1] = all;
          }
        }
      });

  std::vector<double> result(14);
  m.copy(result.data(), sums.on(1), result.size() * sizeof(double));
  st::index_t n = 1;
  bool right = true;
  for (const double s : result) {
    double wanted = 0;
    for (st::index_t i = 0; i < n; ++i) wanted += static_cast<double>(i % 10);
    std::printf("%5lld numbers: %.0f\n", static_cast<long long>(n), s);
    right = right && s == wanted;
    n *= 2;
  }
  return right ? 0 : 1;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
