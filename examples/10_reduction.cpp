// Reductions: a loop over all devices that ends in a sum, a largest value and a sum by an operator of one's own. The
// values are combined in a fixed order, so every run gives the same bits.
#include <cstdio>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

// Least and largest value at once.
struct interval {
  double least;
  double largest;
};
struct join {
  STARLING_HD interval identity() const { return {1e300, -1e300}; }
  STARLING_HD interval operator()(const interval& a, const interval& b) const {
    return {a.least < b.least ? a.least : b.least, a.largest > b.largest ? a.largest : b.largest};
  }
};

int main() try {
  constexpr index_t n = 100'000;
  std::vector<double> X(n);
  for (index_t i = 0; i < n; ++i) X[static_cast<std::size_t>(i)] = static_cast<double>((i * 7919) % n);
  double sum = 1000;
  double largest = 0;
  interval range{};

  stf::context ctx;
  auto lX = ctx.logical_data(X);
  auto lSum = ctx.logical_data(stf::scalar_view<double>(&sum));
  auto lLargest = ctx.logical_data(stf::scalar_view<double>(&largest));
  auto lRange = ctx.logical_data(stf::scalar_view<interval>(&range));
  // no_init: added to what is there.
  ctx.parallel_for(stf::exec_place::all_devices(), lX.shape(), lX.read(),
                   lSum.reduce(stf::reducer::sum(), stf::no_init()), lLargest.reduce(stf::reducer::maxval()),
                   lRange.reduce(join()))
          ->*STARLING_KERNEL(index_t i, slice<const double> x, double& s, double& top, interval& r) {
    s += x(i);
    top = top > x(i) ? top : x(i);
    r = join()(r, {x(i), x(i)});
  };
  ctx.finalize();

  // Each number below n is there once.
  const double expected = 1000 + static_cast<double>(n) * static_cast<double>(n - 1) / 2;
  if (sum != expected || largest != n - 1 || range.least != 0 || range.largest != n - 1) return 1;
  std::printf("%d values on %d devices: sum %.0f, from %g to %g\n", static_cast<int>(n), ctx.on().size(), sum,
              range.least, range.largest);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
