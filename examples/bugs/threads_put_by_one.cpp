// One thread makes a call that is of the whole block.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 8;

bool run(st::machine& m, bool fixed) {
  auto data = gallery::filled(m, 2 * n, 3);
  const auto x = data.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int other = 1 - b.pe();
        if (b.member() == 0) {
          if (fixed)
            b.thread().put(x + n, x.on(b.pe()), n, other);
          else
            b.put(x + n, x.on(b.pe()), n,
                  other);  // wrong: on a GPU the thread moves its share, and waits for the others
        }
        b.barrier_all();
      });
  return data.on(0)[2 * n - 1] == 3;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {.kinds = {st::defect::collective}, .text = "calls of one thread are made on b.thread()", .pes = 2},
      run);
}
