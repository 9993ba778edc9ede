// Neighbours in a ring exchange their values in every step. With one halo buffer, a fast neighbour writes the values of
// the next step while those of this step are still read; with two, its own wait tells it that the older is free.
#include "gallery.hpp"

namespace {

constexpr int steps = 5;

bool run(st::machine& m, bool fixed) {
  auto halos = m.allocate<long>(4);  // [slot][side]
  auto values = m.allocate<long>(1);
  auto signals = gallery::signals(m, 2);
  for (int pe = 0; pe < m.size(); ++pe) *values.on(pe) = pe + 1;
  const auto halo = halos.data();
  const auto own = values.data();
  const auto arrived = signals.data();  // [side]
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        const int right = (b.pe() + 1) % b.n_pes();
        long mine = *own.on(b.pe());
        for (int t = 1; t <= steps; ++t) {
          const auto now = static_cast<std::uint64_t>(t);
          const st::index_t slot = fixed ? t % 2 * 2 : 0;  // wrong with 0: one buffer for all steps
          const auto value = [&](st::index_t) { return mine; };
          b.put_signal(halo + (slot + 1), value, 1, arrived + 1, now, left);
          b.put_signal(halo + slot, value, 1, arrived, now, right);
          b.wait_all(arrived, 2, now);
          mine += halo.on(b.pe())[slot] + halo.on(b.pe())[slot + 1];
        }
        if (b.member() == 0) *own.on(b.pe()) = mine;
      });
  const int n = m.size();
  std::vector<long> now(static_cast<std::size_t>(n));
  for (int pe = 0; pe < n; ++pe) now[static_cast<std::size_t>(pe)] = pe + 1;
  for (int t = 1; t <= steps; ++t) {
    const std::vector<long> old = now;
    const auto at = [&](int pe) { return old[static_cast<std::size_t>((pe + n) % n)]; };
    for (int pe = 0; pe < n; ++pe) now[static_cast<std::size_t>(pe)] = at(pe) + at(pe - 1) + at(pe + 1);
  }
  for (int pe = 0; pe < n; ++pe)
    if (*values.on(pe) != now[static_cast<std::size_t>(pe)]) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_write}, "use another buffer"}, run);
}
