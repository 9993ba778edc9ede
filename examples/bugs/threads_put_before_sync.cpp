// A put of what the threads have just computed, without a barrier between.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 20;

bool run(st::machine& m, bool fixed) {
  auto data = gallery::filled(m, 2 * n, 0);
  auto flags = gallery::signals(m, 1);
  const auto x = data.data();
  const auto came = flags.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        b.for_each(n, [&](st::index_t i) { x.on(b.pe())[i] = 5; });
        if (fixed) b.sync();
        b.put_signal(x + n, x.on(b.pe()), n, came, 1, 1 - b.pe());  // wrong without: a thread sends what others compute
        b.wait(came, 1);
      });
  return data.on(0)[2 * n - 1] == 5 && data.on(1)[n] == 5;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {.kinds = {st::defect::within_block}, .text = "the threads read them in put_signal at", .pes = 2},
      run);
}
