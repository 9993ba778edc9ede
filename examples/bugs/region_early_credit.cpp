// A PE that reads a part of a region says with give_credit that the buffer may be overwritten. Given before the part
// has been read, the writer's next epoch but one arrives under the reader's hands.
#include "gallery.hpp"
#include "starling/region/region.hpp"

namespace {

constexpr st::index_t n = 64;
constexpr std::uint64_t epochs = 6;

int made(std::uint64_t epoch, st::index_t i) { return static_cast<int>(epoch) * 100 + static_cast<int>(i); }

bool run(st::machine& m, bool fixed) {
  st::region<int> x(m, n, {.chunk_bytes = 128, .tiles = st::region_mapping::one_to_one(16), .credits = true});
  x.load(std::vector<int>(n, 0));
  auto wrong = gallery::filled(m, 1, 0);
  const auto bad = wrong.data();
  const auto h = x.handle();
  st::role_plan roles;
  const st::role writer = roles.add("writer", 1);
  roles.add("reader", 1);
  m.run(x.programs(
      roles, STARLING_KERNEL(st::block & b) {
        if (b.role() != writer) h.give_credit(b, 0);
        for (std::uint64_t e = 1; e <= epochs; ++e) {
          if (b.role() == writer) {
            h.each_tile(b, e, [&](st::tile t, st::tracked<int> next) {
              b.for_each(t.range, [&](st::index_t i) { next(i) = made(e, i); });
            });
          } else {
            const auto seen = h.await(b, e, {0, n / 4});
            if (!fixed) h.give_credit(b, e);  // wrong: nothing has been read yet
            for (st::index_t i = 0; i < n / 4; ++i)
              if (seen(i) != made(e, i)) *bad.on(b.pe()) = 1;
            if (fixed) h.give_credit(b, e);
          }
        }
      }));
  for (int pe = 0; pe < m.size(); ++pe)
    if (*wrong.on(pe) != 0) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read, st::defect::unordered_write}, "nothing orders", 2},
                       run);
}
