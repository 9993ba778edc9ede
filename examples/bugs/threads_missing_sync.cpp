// A loop reads what other threads of the block write in the loop before it.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 24;

bool run(st::machine& m, bool fixed) {
  auto data = gallery::filled(m, 2 * n, 0);
  const auto x = data.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        int* a = x.on(b.pe());
        b.for_each(n, [=](st::index_t i) { a[i] = static_cast<int>(i * i); });
        if (fixed) b.sync();
        b.for_each(n, [=](st::index_t i) { a[n + i] = a[n - 1 - i]; });  // wrong without: of another thread
      });
  return data.on(0)[n] == (n - 1) * (n - 1) && data.on(0)[2 * n - 1] == 0;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {.kinds = {st::defect::within_block}, .text = "order the two by b.sync()", .pes = 1},
                       run);
}
