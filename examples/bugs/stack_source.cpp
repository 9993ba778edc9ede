// The array on the stack that a put_nbi reads is filled for the next put while the first is still under way.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto rows = gallery::filled(m, 8, 0);
  const auto row = rows.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        int edge[4];
        for (int half = 0; half < 2; ++half) {
          for (int& e : edge) e = half + 1;
          b.put_nbi(row + 4 * half, edge, 4, right);
          if (fixed) b.quiet();  // wrong without: the put may read what the next round writes
        }
        b.quiet();
      });
  for (int pe = 0; pe < m.size(); ++pe)
    for (int i = 0; i < 8; ++i)
      if (rows.on(pe)[i] != 1 + i / 4) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) { return gallery::show(argc, argv, {{st::defect::source_reused}, "quiet()"}, run); }
