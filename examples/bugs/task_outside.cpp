// b(i) = a(i) + a(i + half) for the first half of a. The loop goes over all of a, whose second half has nothing behind
// it: there lies other data of the context.
#include "gallery.hpp"
#include "starling/stf/context.hpp"

namespace {

namespace stf = st::stf;
using stf::slice;

constexpr st::index_t half = 128;

bool run(st::machine& m, bool fixed) {
  std::vector<double> a(2 * half, 1);
  std::vector<double> b(2 * half, 0);
  stf::context ctx(m);
  auto da = ctx.logical_data(a).set_symbol("a");
  auto db = ctx.logical_data(b).set_symbol("b");
  const stf::box<1> loop(fixed ? half : 2 * half);  // wrong: all of a
  ctx.parallel_for(loop, da.read(), db.rw()).set_symbol("fold")->*STARLING_KERNEL(st::index_t i, slice<const double> x,
                                                                                  slice<double> y) {
    y(i) = x(i) + x(i + half);
  };
  ctx.finalize();
  for (std::size_t i = 0; i < half; ++i)
    if (b[i] != 2 || b[half + i] != 0) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::out_of_bounds}, "out of bounds of logical data 'a'"}, run);
}
