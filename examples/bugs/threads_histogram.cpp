// Threads count into the same bins by plain additions.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 60;
constexpr int bins = 4;

bool run(st::machine& m, bool fixed) {
  auto counts = gallery::filled(m, bins, 0);
  const auto count = counts.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        b.for_each(n, [&](st::index_t i) {
          const int bin = static_cast<int>(i / 3 % bins);
          if (fixed)
            b.thread().atomic_add(count + bin, 1, b.pe());
          else
            count.on(b.pe())[bin] += 1;  // wrong: others do so at the same time
        });
      });
  return counts.on(0)[0] == n / bins && counts.on(0)[3] == n / bins;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {.kinds = {st::defect::within_block}, .text = "give each thread elements of its own", .pes = 1}, run);
}
