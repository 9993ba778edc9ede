// Loops as tasks: a body for every coordinate of a shape, of one and of two dimensions. The same loops run on one
// device, on all of them and on the host; only the place differs. The tasks of one round become a graph.
#include <cstdio>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

// y = y + x, then z(i, j) = x(i) y(j).
void round_on(stf::context& ctx, const stf::exec_place& where, const stf::logical_data<slice<double>>& x,
              const stf::logical_data<slice<double>>& y, const stf::logical_data<slice<double, 2>>& z) {
  ctx.parallel_for(where, y.shape(), x.read(), y.rw())
          ->*STARLING_KERNEL(index_t i, slice<const double> dx, slice<double> dy) {
    dy(i) += dx(i);
  };
  ctx.parallel_for(where, z.shape(), x.read(), y.read(), z.write())
          ->*STARLING_KERNEL(index_t i, index_t j, slice<const double> dx, slice<const double> dy,
                             slice<double, 2> dz) {
    dz(i, j) = dx(i) * dy(j);
  };
  ctx.fence();
}

int main() try {
  constexpr index_t n = 200;
  std::vector<double> X(n), Y(n), Z(n * n);
  for (index_t i = 0; i < n; ++i) X[static_cast<std::size_t>(i)] = static_cast<double>(i);

  stf::graph_ctx ctx;
  const auto x = ctx.logical_data(X);
  const auto y = ctx.logical_data(Y);
  const auto z = ctx.logical_data(slice<double, 2>(Z.data(), n, n));
  round_on(ctx, stf::exec_place::device(0), x, y, z);
  round_on(ctx, stf::exec_place::all_devices(), x, y, z);
  round_on(ctx, stf::exec_place::host(), x, y, z);
  ctx.finalize();

  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j)
      if (Z[static_cast<std::size_t>(i * n + j)] != static_cast<double>(i) * 3 * static_cast<double>(j)) return 1;
  std::printf("3 rounds on one device, on %d and on the host: z(2, 3) = %g\n", ctx.on().size(), Z[2 * n + 3]);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
