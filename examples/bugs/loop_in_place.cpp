// A loop that shifts an array in place: an element reads what its neighbour writes, before or after that. On a virtual
// device one thread runs the elements in their order, and the wrong program is right there by chance.
#include "gallery.hpp"
#include "starling/stf/context.hpp"

namespace {

namespace stf = st::stf;
using stf::slice;

constexpr st::index_t n = 64;

bool run(st::machine& m, bool fixed) {
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = i;
  stf::context ctx(m);
  auto dx = ctx.logical_data(x).set_symbol("x");
  auto before = ctx.logical_data(stf::shape_of<slice<int>>(n));
  ctx.parallel_for(dx.shape(), dx.read(), before.write())
          ->*STARLING_KERNEL(st::index_t i, slice<const int> from, slice<int> to) {
    to(i) = from(i);
  };
  if (fixed)
    ctx.parallel_for(stf::box(n - 1), before.read(), dx.rw())
            ->*STARLING_KERNEL(st::index_t i, slice<const int> from, slice<int> to) {
      to(i) = from(i + 1);
    };
  else
    ctx.parallel_for(stf::box(n - 1), dx.rw()).set_symbol("shift")->*STARLING_KERNEL(st::index_t i, slice<int> v) {
      v(i) = v(i + 1);
    };  // wrong: element i + 1 may have written it
  ctx.finalize();
  for (int i = 0; i + 1 < n; ++i)
    if (x[static_cast<std::size_t>(i)] != i + 1) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv,
                       {.kinds = {st::defect::loop_elements}, .text = "let each write what no other touches", .pes = 1},
                       run);
}
