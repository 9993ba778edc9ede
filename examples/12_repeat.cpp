// Tasks that come again: Jacobi's method for a heated plate, until it changes no more. The tasks of one round are
// submitted once; the devices repeat them for as long as a value that the tasks compute says so. Then the same work by
// hand, launch by launch.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

constexpr index_t n = 48;
constexpr double tolerance = 1e-4;
constexpr int most_rounds = 5000;

// The same by a plain loop. Returns how many rounds of two sweeps it took.
int solve_in_order(std::vector<double>& u) {
  std::vector<double> v = u;
  for (int round = 1; round <= most_rounds; ++round) {
    double change = 0;
    const auto sweep = [&](const std::vector<double>& from, std::vector<double>& to) {
      change = 0;
      for (std::size_t i = 1; i + 1 < n; ++i)
        for (std::size_t j = 1; j + 1 < n; ++j) {
          const std::size_t at = i * n + j;
          to[at] = 0.25 * ((from[at - n] + from[at + n]) + (from[at - 1] + from[at + 1]));
          change = std::max(change, std::fabs(to[at] - from[at]));
        }
    };
    sweep(u, v);
    sweep(v, u);
    if (change <= tolerance) return round;
  }
  return most_rounds;
}

using grid = stf::logical_data<slice<double, 2>>;
using number = stf::logical_data<stf::scalar_view<double>>;

// One sweep, and the largest change in it.
void sweep(stf::context& ctx, const grid& from, const grid& to, const number& change) {
  const auto inner = stf::box(st::index_range{1, n - 1}, st::index_range{1, n - 1});
  ctx.parallel_for(inner, from.read(), to.rw(), change.reduce(stf::reducer::maxval()))
          ->*STARLING_KERNEL(index_t i, index_t j, slice<const double, 2> u, slice<double, 2> v, double& largest) {
    v(i, j) = 0.25 * ((u(i - 1, j) + u(i + 1, j)) + (u(i, j - 1) + u(i, j + 1)));
    const double by = v(i, j) > u(i, j) ? v(i, j) - u(i, j) : u(i, j) - v(i, j);
    largest = largest > by ? largest : by;
  };
}

int main() try {
  std::vector<double> expected(n * n, 0.0);
  std::fill_n(expected.begin(), n, 100.0);  // the hot edge
  std::vector<double> plate = expected;
  std::vector<double> by_hand = expected;
  const int rounds_expected = solve_in_order(expected);

  int rounds = 0;
  double change = 0;
  int again = 0;
  stf::context ctx;
  {
    auto u = ctx.logical_data(slice<double, 2>(plate.data(), n, n));
    auto lChange = ctx.logical_data(stf::scalar_view<double>(&change));
    auto lAgain = ctx.logical_data(stf::scalar_view<int>(&again));
    auto lRounds = ctx.logical_data(stf::scalar_view<int>(&rounds));
    auto v = ctx.logical_data(u.shape());
    // The edges, which no sweep writes.
    ctx.parallel_for(u.shape(), u.read(), v.write())
            ->*STARLING_KERNEL(index_t i, index_t j, slice<const double, 2> from, slice<double, 2> to) {
      to(i, j) = from(i, j);
    };
    ctx.repeat_while(
        lAgain,
        [&] {
          sweep(ctx, u, v, lChange);
          sweep(ctx, v, u, lChange);
          ctx.parallel_for(stf::box(1), lChange.read(), lAgain.write(), lRounds.rw())
                  ->*STARLING_KERNEL(index_t, stf::scalar_view<const double> by, stf::scalar_view<int> flag,
                                     stf::scalar_view<int> count) {
            *flag = *by > tolerance ? 1 : 0;
            *count += 1;
          };
        },
        most_rounds);
  }
  {
    // The same rounds by recorded tasks: launched as often as the program says, with whatever else between them.
    auto u = ctx.logical_data(slice<double, 2>(by_hand.data(), n, n));
    auto v = ctx.logical_data(u.shape());
    auto unused = ctx.logical_data(stf::shape_of<stf::scalar_view<double>>());
    ctx.parallel_for(u.shape(), u.read(), v.write())
            ->*STARLING_KERNEL(index_t i, index_t j, slice<const double, 2> from, slice<double, 2> to) {
      to(i, j) = from(i, j);
    };
    const stf::recorded_tasks round = ctx.record([&] {
      sweep(ctx, u, v, unused);
      sweep(ctx, v, u, unused);
    });
    round.launch(10);
    round.launch(static_cast<std::uint64_t>(rounds_expected) - 10);
  }
  ctx.finalize();

  if (plate != expected || by_hand != expected || rounds != rounds_expected || again != 0) return 1;
  std::printf("%d x %d points, %d rounds until nothing changes by more than %g; the centre has %.4f\n",
              static_cast<int>(n), static_cast<int>(n), rounds, tolerance, plate[n / 2 * n + n / 2]);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
