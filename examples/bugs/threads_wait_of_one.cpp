// One thread waits for data, and the others read it without a barrier between.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 8;

bool run(st::machine& m, bool fixed) {
  auto data = gallery::filled(m, n, 0);
  auto flags = gallery::signals(m, 1);
  auto sums = gallery::filled(m, 1, 0);
  const auto x = data.data();
  const auto came = flags.data();
  const auto sum = sums.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        if (b.pe() == 0) {
          b.put_signal(x, [](st::index_t i) { return static_cast<int>(i); }, n, came, 1, 1);
          return;
        }
        if (b.member() == 0) b.thread().wait(came, 1);
        if (fixed) b.sync();  // wrong without: the wait is of its thread
        int mine = 0;
        b.for_each(n, [&](st::index_t i) { mine += x.on(1)[i]; });
        mine = b.reduce(mine, st::plus{});
        if (b.member() == 0) *sum.on(1) = mine;
      });
  return sums.on(1)[0] == n * (n - 1) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv,
                       {.kinds = {st::defect::unordered_read, st::defect::unordered_write},
                        .text = "nothing orders two accesses",
                        .pes = 2},
                       run);
}
