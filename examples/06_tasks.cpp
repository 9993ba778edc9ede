// Tasks: the host says in program order what each piece of work reads and writes; the context finds out what has to
// wait for what, runs the rest at the same time, and moves the data. Some tasks name the device they run on, one names
// where a datum is to lie.
#include <cstdio>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using stf::slice;

// x = a x
void scale(st::stream& s, double a, slice<double> x) {
  s.launch(
      4, STARLING_KERNEL(st::block & b) { b.for_each(b.my_share(x.extent(0)), [&](st::index_t i) { x(i) *= a; }); });
}

// y = y + x
void add(st::stream& s, slice<const double> x, slice<double> y) {
  s.launch(
      4, STARLING_KERNEL(st::block & b) { b.for_each(b.my_share(y.extent(0)), [&](st::index_t i) { y(i) += x(i); }); });
}

int main() try {
  constexpr std::size_t n = 1000;
  std::vector<double> X(n, 1.0), Y(n, 10.0), Z(n, 100.0);
  const st::machine m = st::machine::best();
  const int second = m.size() > 1 ? 1 : 0;

  stf::context ctx(m);
  auto lX = ctx.logical_data(X);
  auto lY = ctx.logical_data(Y);
  auto lZ = ctx.logical_data(Z);

  ctx.task(lX.rw())->*[](st::stream& s, slice<double> x) { scale(s, 2, x); };
  // These two read X at the same time, on two devices.
  ctx.task(lX.read(), lY.rw())->*[](st::stream& s, slice<const double> x, slice<double> y) { add(s, x, y); };
  ctx.task(stf::exec_place::device(second), lX.read(), lZ.rw())
          ->*[](st::stream& s, slice<const double> x, slice<double> z) { add(s, x, z); };
  // On the first device, but Z stays on the second.
  ctx.task(lY.read(), lZ.rw(stf::data_place::device(second)))
          ->*[](st::stream& s, slice<const double> y, slice<double> z) { add(s, y, z); };
  ctx.finalize();

  for (std::size_t i = 0; i < n; ++i)
    if (X[i] != 2 || Y[i] != 12 || Z[i] != 114) return 1;
  const stf::statistics done = ctx.statistics();
  std::printf("%d tasks, %d copies: X = %g, Y = %g, Z = %g\n", static_cast<int>(done.tasks),
              static_cast<int>(done.copies), X[0], Y[0], Z[0]);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
