// All tiles of a part are written in every epoch, by the blocks of one role that share them. A block that leaves its
// tiles out keeps the chunks that they share from ever being ready.
#include "gallery.hpp"
#include "starling/region/region.hpp"

namespace {

constexpr st::index_t n = 64;

bool run(st::machine& m, bool fixed) {
  st::region<int> x(m, n, {.chunk_bytes = 128, .tiles = st::region_mapping::one_to_one(16)});
  x.load(std::vector<int>(n, 1));
  const auto h = x.handle();
  m.run(x.programs(
      2, STARLING_KERNEL(st::block & b) {
        for (std::uint64_t e = 1; e <= 3; ++e) {
          const auto old = h.await(b, e - 1);
          // Wrong: block 1 takes no part in the second epoch, though it has tiles.
          if (!fixed && b.index() == 1 && e == 2) continue;
          h.each_tile(b, e, [&](st::tile t, st::tracked<int> next) {
            b.for_each(t.range, [&](st::index_t i) { next(i) = old(i) + old(n - 1 - i); });
          });
        }
      }));
  std::vector<int> got(n, 0);
  for (int pe = 0; pe < m.size(); ++pe) {
    x.read(pe, 3, got);
    for (const int v : got)
      if (v != 8) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::deadlock, st::defect::lost_signal}, "waits in wait", 2}, run);
}
