// Blocks of one PE run at the same time. Each adds its part to one counter by a plain load and store: what one adds
// between the other's load and store is lost.
#include "gallery.hpp"

namespace {

constexpr int blocks = 3;
constexpr st::index_t n = 30;

bool run(st::machine& m, bool fixed) {
  auto counters = gallery::filled(m, 1, std::uint64_t{0});
  const auto counter = counters.data();
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        std::uint64_t odd = 0;
        const st::index_range mine = b.my_share(n);
        for (st::index_t i = mine.begin; i < mine.end; ++i) odd += static_cast<std::uint64_t>(i % 2);
        if (fixed)
          b.atomic_fetch_add(counter, odd, b.pe());
        else if (b.member() == 0)
          *counter.on(b.pe()) += odd;  // wrong: all blocks of the PE do this
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (*counters.on(pe) != n / 2) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_write}, "order the two by sync_pe or a signal", 2}, run);
}
