// The host copies a whole array of which the kernel has written the inside alone.
#include <vector>

#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  constexpr st::index_t n = 10;
  auto rows = m.allocate<int>(n);
  const auto row = rows.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        b.for_each(st::index_range{1, n - 1}, [&](st::index_t i) { row.on(b.pe())[i] = 3; });
      });
  std::vector<int> mine(n, 3);
  const st::index_t first = fixed ? 1 : 0;  // wrong: the edges have no value
  m.copy(mine.data() + first, rows.on(0) + first, static_cast<std::size_t>(n - 2 * first) * sizeof(int));
  return mine == std::vector<int>(n, 3);
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::uninitialised}, "the host reads"}, run);
}
