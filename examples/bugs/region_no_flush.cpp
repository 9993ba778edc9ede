// A tile is seen by other PEs when its chunk has come, or after a flush. A block that tells its neighbour of its tile
// by a signal of its own, while another block still owes the same chunk a tile, has to flush first.
#include "gallery.hpp"
#include "starling/region/region.hpp"

namespace {

constexpr st::index_t n = 128;

bool run(st::machine& m, bool fixed) {
  st::region<int> x(m, n, {.chunk_bytes = 256, .tiles = st::region_mapping::one_to_one(32), .flushes = true});
  x.load(std::vector<int>(n, 0));
  auto written = gallery::signals(m, 1);
  auto sums = gallery::filled(m, 1, 0);
  const auto h = x.handle();
  const auto done = written.data();
  const auto sum = sums.data();
  m.run(x.programs(
      2, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        h.await(b, 0);
        h.each_tile(
            b, 1, [&](st::tile t, st::tracked<int> next) { b.for_each(t.range, [&](st::index_t i) { next(i) = 1; }); });
        if (b.index() == 0) {
          if (fixed)
            h.signal_set(b, done, 1, right);
          else
            b.signal_set(done, 1, right);  // wrong: the agent sends the tile when block 1 has written its own
          b.wait(done, 1, left);
          const st::index_range tile{left * n / 2, left * n / 2 + 32};
          const auto early = h.flushed(b, 1, tile);
          int total = 0;
          for (st::index_t i = tile.begin; i < tile.end; ++i) total += early(i);
          *sum.on(b.pe()) = total;
        }
        h.await(b, 1);
      }));
  for (int pe = 0; pe < m.size(); ++pe)
    if (*sums.on(pe) != 32) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read, st::defect::uninitialised}, "region_no_flush.cpp", 2},
                       run);
}
