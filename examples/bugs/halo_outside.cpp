// Rows 0 and n + 1 are the neighbours', rows 1 to n one's own: n + 2 in all. Allocated are n + 1, so the lower halo
// lies outside.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 6;
constexpr st::index_t width = 8;

bool run(st::machine& m, bool fixed) {
  const st::index_t rows = fixed ? n + 2 : n + 1;  // wrong: a row short
  auto cells = gallery::filled(m, rows * width, 0);
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
        // My first row is the halo behind the last row of the PE above.
        if (b.pe() > 0) b.put_signal(u + (n + 1) * width, row(1), width, arrived, 1, b.pe() - 1);
        if (b.pe() + 1 < b.n_pes()) b.wait(arrived, 1, b.pe() + 1);
      });
  for (int pe = 0; pe + 1 < m.size(); ++pe)
    for (int x = 0; x < width; ++x)
      if (cells.on(pe)[(n + 1) * width + x] != (pe + 1) * 100 + x) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::out_of_bounds}, "not inside one live allocation"}, run);
}
