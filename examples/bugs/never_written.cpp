// Fresh symmetric memory holds no values. The first step reads the halo of a PE that has no neighbour to fill it.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 12;

bool run(st::machine& m, bool fixed) {
  auto cells = m.allocate<double>(n + 2);  // cells 0 and n + 1 are the neighbours' or the edge's
  auto outcomes = m.allocate<double>(n);
  const auto u = cells.data();
  const auto outcome = outcomes.data();
  for (int pe = 0; pe < m.size(); ++pe)
    for (st::index_t i = 1; i <= n; ++i) cells.on(pe)[i] = static_cast<double>(i);
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        double* mine = u.on(b.pe());
        const bool first = b.pe() == 0;
        const bool last = b.pe() == b.n_pes() - 1;
        if (!first) b.p(u + (n + 1), mine[1], b.pe() - 1);
        if (!last) b.p(u, mine[n], b.pe() + 1);
        if (fixed && first && b.member() == 0) mine[0] = 0;  // wrong without: the edges have no value
        if (fixed && last && b.member() == 0) mine[n + 1] = 0;
        b.barrier_all();
        b.for_each(n, [&](st::index_t i) { outcome.on(b.pe())[i] = 0.5 * mine[i] + 0.5 * mine[i + 2]; });
      });
  return outcomes.on(0)[0] == 1.0 && outcomes.on(0)[n - 1] == 0.5 * (n - 1) + 0.5;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::uninitialised}, "which nothing has written"}, run);
}
