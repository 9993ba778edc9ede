// A tile is committed when the function of each_tile returns. What is stored afterwards may be sent or not.
#include "gallery.hpp"
#include "starling/region/region.hpp"

namespace {

constexpr st::index_t n = 64;

bool run(st::machine& m, bool fixed) {
  st::region<int> x(m, n, {.chunk_bytes = 128, .tiles = st::region_mapping::one_to_one(16)});
  x.load(std::vector<int>(n, 0));
  auto sums = gallery::filled(m, 1, 0);
  const auto h = x.handle();
  const auto sum = sums.data();
  m.run(x.programs(
      1, STARLING_KERNEL(st::block & b) {
        h.await(b, 0);
        h.each_tile(b, 1, [&](st::tile t, st::tracked<int> next) {
          b.for_each(t.range, [&](st::index_t i) { next(i) = fixed && i == 0 ? 7 : 1; });
        });
        // Wrong: the agent may have read the chunk, or be reading it.
        int* here = (h.values() + h.state().buffer_of(1) * h.pitch()).on(b.pe());
        if (!fixed && h.part(b).begin == 0) here[0] = 7;
        const auto all = h.await(b, 1);
        int total = 0;
        for (st::index_t i = 0; i < n; ++i) total += all(i);
        *sum.on(b.pe()) = total;
      }));
  for (int pe = 0; pe < m.size(); ++pe)
    if (*sums.on(pe) != n + 6) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv,
                       {{st::defect::unordered_write, st::defect::unordered_read}, "region_late_store.cpp", 2}, run);
}
