// Loops of tasks without the host: the rounds of Jacobi's method on all devices, as a persistent program. Tasks wait
// for the tasks whose data they use and for nothing else, round after round, and the devices decide themselves when
// nothing changes any more.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

constexpr index_t n = 40;
constexpr double tolerance = 1e-3;
constexpr int most_rounds = 5000;

// A rod that is hot at one end, by a plain loop. Returns how many rounds of two sweeps it took.
int solve_in_order(std::vector<double>& u) {
  std::vector<double> v = u;
  for (int round = 1; round <= most_rounds; ++round) {
    double change = 0;
    for (std::size_t i = 1; i + 1 < n; ++i) v[i] = 0.5 * (u[i - 1] + u[i + 1]);
    for (std::size_t i = 1; i + 1 < n; ++i) {
      const double next = 0.5 * (v[i - 1] + v[i + 1]);
      change = std::max(change, std::fabs(next - v[i]));
      u[i] = next;
    }
    if (change <= tolerance) return round;
  }
  return most_rounds;
}

int main() try {
  std::vector<double> expected(n, 0.0);
  expected.front() = 100;
  std::vector<double> rod = expected;
  const int rounds_expected = solve_in_order(expected);

  int rounds = 0;
  int again = 0;
  double change = 0;
  stf::persistent_ctx ctx;
  auto u = ctx.logical_data(rod);
  auto v = ctx.logical_data(u.shape());
  auto lChange = ctx.logical_data(stf::scalar_view<double>(&change));
  auto lAgain = ctx.logical_data(stf::scalar_view<int>(&again));
  auto lRounds = ctx.logical_data(stf::scalar_view<int>(&rounds));
  const auto all = stf::exec_place::all_devices();
  const auto inner = stf::box(st::index_range{1, n - 1});
  ctx.parallel_for(all, u.shape(), u.read(), v.write())
          ->*STARLING_KERNEL(index_t i, slice<const double> from, slice<double> to) {
    to(i) = from(i);
  };
  ctx.repeat_while(
      lAgain,
      [&] {
        ctx.parallel_for(all, inner, u.read(), v.rw()).set_symbol("there")->*STARLING_KERNEL(index_t i,
                                                                                             slice<const double> from,
                                                                                             slice<double> to) {
          to(i) = 0.5 * (from(i - 1) + from(i + 1));
        };
        ctx.parallel_for(all, inner, v.read(), u.rw(), lChange.reduce(stf::reducer::maxval())).set_symbol("back")
                ->*STARLING_KERNEL(index_t i, slice<const double> from, slice<double> to, double& largest) {
          to(i) = 0.5 * (from(i - 1) + from(i + 1));
          const double by = to(i) > from(i) ? to(i) - from(i) : from(i) - to(i);
          largest = largest > by ? largest : by;
        };
        ctx.parallel_for(stf::box(1), lChange.read(), lAgain.write(), lRounds.rw()).set_symbol("decide")
                ->*STARLING_KERNEL(index_t, stf::scalar_view<const double> by, stf::scalar_view<int> flag,
                                   stf::scalar_view<int> count) {
          *flag = *by > tolerance ? 1 : 0;
          *count += 1;
        };
      },
      most_rounds);
  ctx.finalize();

  if (rod != expected || rounds != rounds_expected || again != 0) return 1;
  std::printf("%d points on %d devices, %d rounds until nothing changes by more than %g; the centre has %.4f\n",
              static_cast<int>(n), ctx.on().size(), rounds, tolerance, rod[n / 2]);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
