// The body of a task keeps the view of its data, and another task uses it without naming the data: nothing makes it
// wait for the first, and its copy may be an old one.
#include "gallery.hpp"
#include "starling/stf/context.hpp"

namespace {

namespace stf = st::stf;
using stf::slice;

constexpr st::index_t n = 64;

bool run(st::machine& m, bool fixed) {
  std::vector<double> x(n, 2);
  std::vector<double> weights(n, 0);
  stf::context ctx(m);
  auto dx = ctx.logical_data(x).set_symbol("x");
  auto dw = ctx.logical_data(weights).set_symbol("weights");
  slice<double> kept;
  ctx.task(dw.rw()).set_symbol("weigh")->*[&](st::stream& s, slice<double> w) {
    kept = w;
    s.launch(1, STARLING_KERNEL(st::block & b) { b.for_each(n, [&](st::index_t i) { w(i) = 3; }); });
  };
  if (fixed)
    ctx.parallel_for(dx.shape(), dw.read(), dx.rw()).set_symbol("scale")->*STARLING_KERNEL(st::index_t i,
                                                                                           slice<const double> w,
                                                                                           slice<double> v) {
      v(i) *= w(i);
    };
  else
    ctx.parallel_for(dx.shape(), dx.rw()).set_symbol("scale")->*STARLING_KERNEL(st::index_t i, slice<double> v) {
      v(i) *= kept(i);
    };  // wrong: weights is not named
  ctx.finalize();
  return std::all_of(x.begin(), x.end(), [](double value) { return value == 6; });
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::undeclared}, "does not name; name it among the data of the task"},
                       run);
}
