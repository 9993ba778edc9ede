// Threads without an element leave the kernel before a barrier of the block.
#include "gallery.hpp"

namespace {

constexpr int n = 2;

bool run(st::machine& m, bool fixed) {
  auto data = gallery::filled(m, n, 1);
  const auto x = data.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        int* a = x.on(b.pe());
        if (!fixed && b.member() >= n) return;  // wrong: b.sync() is of all threads
        b.for_each(n, [=](st::index_t i) { a[i] += 1; });
        b.sync();
        if (b.member() == 0) a[0] += a[1];
      });
  return data.on(0)[0] == 4;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {.kinds = {st::defect::collective}, .text = "these have returned from the kernel", .pes = 1}, run);
}
