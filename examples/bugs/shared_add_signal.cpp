// Both neighbours add to one signal, and a PE waits for two arrivals a step. A fast neighbour's arrivals of two steps
// pass for one arrival of each: the other neighbour's values are read before they are there.
#include "gallery.hpp"

namespace {

constexpr int steps = 4;

bool run(st::machine& m, bool fixed) {
  auto halos = gallery::filled(m, 2 * steps, -1);  // [step][side]: a place for each message
  auto sums = gallery::filled(m, 1, 0);
  auto signals = gallery::signals(m, 3);
  const auto halo = halos.data();
  const auto sum = sums.data();
  const auto both = signals.data();
  const auto from_left = signals.data() + 1;
  const auto from_right = signals.data() + 2;
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        const int right = (b.pe() + 1) % b.n_pes();
        int total = 0;
        for (int t = 0; t < steps; ++t) {
          const auto arrivals = static_cast<std::uint64_t>(t + 1);
          const auto value = [&](st::index_t) { return b.pe() * 10 + t; };
          b.put_signal(halo + 2 * t, value, 1, fixed ? from_left : both, 1, right, st::signal_op::add);
          b.put_signal(halo + (2 * t + 1), value, 1, fixed ? from_right : both, 1, left, st::signal_op::add);
          if (fixed) {
            b.wait(from_left, arrivals, left);
            b.wait(from_right, arrivals, right);
          } else {
            b.wait(both, 2 * arrivals);  // wrong: does not tell whose
          }
          total += halo.on(b.pe())[2 * t] + halo.on(b.pe())[2 * t + 1];
        }
        if (b.member() == 0) *sum.on(b.pe()) = total;
      });
  const int n = m.size();
  for (int pe = 0; pe < n; ++pe) {
    const int neighbours = (pe + n - 1) % n + (pe + 1) % n;
    if (*sums.on(pe) != steps * 10 * neighbours + steps * (steps - 1)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read, st::defect::unordered_write}, "wait for"}, run);
}
