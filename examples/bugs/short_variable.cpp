// A get that counts bytes where elements are meant, into an array on the stack.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto rows = gallery::filled(m, 16, 5);
  auto sums = gallery::filled(m, 1, 0);
  const auto row = rows.data();
  const auto sum = sums.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        if (b.member() > 0) return;
        const int right = (b.pe() + 1) % b.n_pes();
        int edge[4] = {};
        b.thread().get(edge, row, fixed ? 4 : 16, right);  // wrong: bytes, where elements are counted
        *sum.on(b.pe()) = edge[0] + edge[3];
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (sums.on(pe)[0] != 10) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::out_of_bounds}, "goes beyond the end of its variable"}, run);
}
