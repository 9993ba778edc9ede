// A get reads more than its destination holds: what lies behind the destination on the block's own PE is overwritten.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto rows = gallery::filled(m, 16, 5);
  auto edges = gallery::filled(m, 4, 0);
  const auto row = rows.data();
  const auto edge = edges.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        b.get(edge.on(b.pe()), row, fixed ? 4 : 16, right);  // wrong: bytes, where elements are counted
      });
  for (int pe = 0; pe < m.size(); ++pe)
    for (int i = 0; i < 4; ++i)
      if (edges.on(pe)[i] != 5) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::out_of_bounds}, "its destination"}, run);
}
