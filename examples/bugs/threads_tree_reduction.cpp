// A sum by halves in scratch memory, without a barrier between its levels.
#include "gallery.hpp"

namespace {

constexpr int n = 16;

bool run(st::machine& m, bool fixed) {
  auto sums = gallery::filled(m, 1, 0);
  const auto sum = sums.data();
  m.run(1,
        STARLING_KERNEL(st::block & b) {
          int* part = b.scratch<int>(n);
          b.for_each(n, [=](st::index_t i) { part[i] = static_cast<int>(i); });
          b.sync();
          for (int half = n / 2; half > 0; half /= 2) {
            b.for_each(half, [=](st::index_t i) { part[i] += part[i + half]; });
            if (fixed) b.sync();  // wrong without: the next level reads what this one writes
          }
          if (b.member() == 0) *sum.on(b.pe()) = part[0];
        },
        {.scratch_bytes = n * sizeof(int)});
  return sums.on(0)[0] == n * (n - 1) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {.kinds = {st::defect::within_block}, .text = "order the two by b.sync()", .pes = 1, .threads = 4},
      run);
}
