// Scratch memory is filled for the next round while threads still read this round's.
#include "gallery.hpp"

namespace {

constexpr int n = 12;
constexpr int rounds = 3;

bool run(st::machine& m, bool fixed) {
  auto data = gallery::filled(m, n, 0);
  const auto x = data.data();
  m.run(1,
        STARLING_KERNEL(st::block & b) {
          int* tile = b.scratch<int>(n);
          for (int round = 1; round <= rounds; ++round) {
            b.for_each(n, [=](st::index_t i) { tile[i] = round; });
            b.sync();
            b.for_each(n, [&](st::index_t i) { x.on(b.pe())[i] += tile[n - 1 - i]; });
            if (fixed) b.sync();  // wrong without: the next round writes to the tile
          }
        },
        {.scratch_bytes = n * sizeof(int)});
  return data.on(0)[0] == 6 && data.on(0)[n - 1] == 6;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {.kinds = {st::defect::within_block}, .text = "order the two by b.sync()", .pes = 1},
                       run);
}
