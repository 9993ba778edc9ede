// Threads take places in a list by a counter that is read and raised by plain accesses.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 40;

bool run(st::machine& m, bool fixed) {
  auto list = gallery::filled(m, n, -1);
  auto lengths = gallery::filled(m, 1, 0);
  const auto items = list.data();
  const auto length = lengths.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        b.for_each(n, [&](st::index_t i) {
          if (i % 2 != 0) return;
          const int place = fixed ? b.thread().atomic_fetch_add(length, 1, b.pe()) : (*length.on(b.pe()))++;  // wrong
          items.on(b.pe())[place] = static_cast<int>(i);
        });
      });
  return lengths.on(0)[0] == n / 2 && list.on(0)[n / 2 - 1] >= 0 && list.on(0)[n / 2] < 0;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {.kinds = {st::defect::within_block}, .text = "no barrier of the block is between", .pes = 1}, run);
}
