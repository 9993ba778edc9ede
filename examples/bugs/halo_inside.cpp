// The halo row is n + 1, and the put goes to row n: inside the allocation, but the neighbour's own row, which the
// neighbour writes at the same time.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 6;
constexpr st::index_t width = 8;

bool run(st::machine& m, bool fixed) {
  auto cells = gallery::filled(m, (n + 2) * width, 0);
  auto signals = gallery::signals(m, 1);
  const auto u = cells.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const auto row = [&](st::index_t r) { return u.on(b.pe()) + r * width; };
        b.for_each(n, width, [&](st::index_t y, st::index_t x) {
          row(y + 1)[x] = b.pe() * 100 + static_cast<int>(y * width + x);
        });
        b.sync();
        const st::index_t halo = fixed ? n + 1 : n;  // wrong: rows are counted from 1
        if (b.pe() > 0) b.put_signal(u + halo * width, row(1), width, arrived, 1, b.pe() - 1);
        if (b.pe() + 1 < b.n_pes()) b.wait(arrived, 1, b.pe() + 1);
      });
  for (int pe = 0; pe < m.size(); ++pe)
    for (int i = 0; i < n * width; ++i)
      if (cells.on(pe)[width + i] != pe * 100 + i) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_write}, "let them use different bytes"}, run);
}
