// A chunk of a region is ready for other PEs when await says so. A signal of one's own, raised after the tile was
// written, travels faster than the chunk.
#include "gallery.hpp"
#include "starling/region/region.hpp"

namespace {

constexpr st::index_t n = 64;

bool run(st::machine& m, bool fixed) {
  st::region<int> x(m, n, {.chunk_bytes = 128, .tiles = st::region_mapping::one_to_one(16)});
  x.load(std::vector<int>(n, 0));
  auto written = gallery::signals(m, 1);
  auto sums = gallery::filled(m, 1, 0);
  const auto h = x.handle();
  const auto done = written.data();
  const auto sum = sums.data();
  m.run(x.programs(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        h.await(b, 0);
        h.each_tile(b, 1, [&](st::tile t, st::tracked<int> next) {
          b.for_each(t.range, [&](st::index_t i) { next(i) = static_cast<int>(i); });
        });
        // Wrong: the signal says that the neighbour has written, not that its chunks are here.
        b.signal_set(done, 1, right);
        b.wait(done, 1, left);
        const int* here = (h.values() + h.state().buffer_of(1) * h.pitch()).on(b.pe());
        if (fixed) here = h.await(b, 1).data();
        int total = 0;
        for (st::index_t i = 0; i < n; ++i) total += here[i];
        *sum.on(b.pe()) = total;
      }));
  for (int pe = 0; pe < m.size(); ++pe)
    if (*sums.on(pe) != n * (n - 1) / 2) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv,
                       {{st::defect::unordered_read, st::defect::uninitialised}, "region_own_signal.cpp", 2}, run);
}
