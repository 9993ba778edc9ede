// A word that one thread should change is changed by all threads of the block.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto counters = gallery::filled(m, 1, 0);
  const auto counter = counters.data();
  m.run(
      2, STARLING_KERNEL(st::block & b) {
        if (b.index() != 0) return;
        if (fixed && b.member() != 0) return;
        *counter.on(b.pe()) += 1;  // wrong: block 0 has many threads
      });
  return counters.on(0)[0] == 1;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {.kinds = {st::defect::within_block}, .text = "if (b.member() == 0)", .pes = 1},
                       run);
}
