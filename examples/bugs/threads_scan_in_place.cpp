// A scan that adds in place: a thread overwrites what another one has yet to read.
#include "gallery.hpp"

namespace {

constexpr int n = 16;

bool run(st::machine& m, bool fixed) {
  auto data = gallery::filled(m, 2 * n, 1);
  const auto x = data.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        int* from = x.on(b.pe());
        int* to = fixed ? from + n : from;  // wrong: one array for both
        for (int step = 1; step < n; step *= 2) {
          b.for_each(n, [=](st::index_t i) { to[i] = i >= step ? from[i] + from[i - step] : from[i]; });
          b.sync();
          if (!fixed) continue;
          int* other = from;
          from = to;
          to = other;
        }
      });
  return data.on(0)[n - 1] == n;  // after an even number of steps in the first half again
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {.kinds = {st::defect::within_block}, .text = "order the two by b.sync()", .pes = 1},
                       run);
}
