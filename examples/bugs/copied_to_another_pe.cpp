// std::copy where a put is meant: works where memory is shared, and tells nobody when it is done.
#include <algorithm>

#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  constexpr st::index_t n = 100;
  auto rows = gallery::filled(m, n, 5);
  auto halos = gallery::filled(m, n, 0);
  const auto row = rows.data();
  const auto halo = halos.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        const int* mine = row.on(b.pe());
        if (fixed)
          b.put(halo, mine, n, right);
        else
          std::copy(mine, mine + n, halo.on(right));  // wrong
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (halos.on(pe)[n - 1] != 5) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::foreign_access}, "use put, p or put_signal"}, run);
}
