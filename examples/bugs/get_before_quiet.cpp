// get_nbi returns before the data is there. Who looks at it before quiet() sees what was there before.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 16;

bool run(st::machine& m, bool fixed) {
  auto tables = m.allocate<int>(n);
  auto copies = m.allocate<int>(n);
  auto sums = gallery::filled(m, 1, 0);
  for (int pe = 0; pe < m.size(); ++pe)
    for (int i = 0; i < n; ++i) tables.on(pe)[i] = pe * 100 + i;
  const auto table = tables.data();
  const auto copy = copies.data();
  const auto sum = sums.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        int* mine = copy.on(b.pe());
        b.get_nbi(mine, table, n, right);
        if (fixed) b.quiet();  // wrong without: the get may still be under way
        int total = 0;
        for (st::index_t i = 0; i < n; ++i) total += mine[i];
        if (b.member() == 0) *sum.on(b.pe()) = total;
        b.quiet();
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (*sums.on(pe) != n * ((pe + 1) % m.size() * 100) + n * (n - 1) / 2) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::source_reused}, "call quiet() before the bytes are touched again"},
                       run);
}
