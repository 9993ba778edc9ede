// The threads of a block pass different lengths to one put.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 8;

bool run(st::machine& m, bool fixed) {
  auto data = gallery::filled(m, 2 * n, 2);
  const auto x = data.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const st::index_t length = fixed ? n : n - b.member();  // wrong: the call is one of all threads
        b.put(x + n, x.on(b.pe()), length, 1 - b.pe());
        b.barrier_all();
      });
  return data.on(0)[2 * n - 1] == 2;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {.kinds = {st::defect::collective}, .text = "arguments differ", .pes = 2}, run);
}
