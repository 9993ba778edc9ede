// Loops and branches within each other: backward Euler for y' = -y^3. Each time step is a loop of Newton's method until
// nothing changes; where that took long the next step is halved, and otherwise doubled; and there are steps until the
// end of time. The host submits all of it once.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;
using number = stf::scalar_view<double>;
using given_number = stf::scalar_view<const double>;

constexpr index_t n = 200;
constexpr double end_of_time = 3.0;
constexpr double tolerance = 1e-10;
constexpr double first_step = 1.0;
constexpr std::uint64_t most_corrections = 50;
constexpr std::uint64_t most_steps = 1000;
constexpr int many_corrections = 4;

// By how much Newton's method changes w, where the step began with y.
STARLING_HD constexpr double correction(double y, double w, double dt) {
  return (y - w - dt * w * w * w) / (1 + 3 * dt * w * w);
}

// The same by plain loops. Returns the number of steps.
int solve_in_order(std::vector<double>& y) {
  int steps = 0;
  double t = 0;
  double dt = first_step;
  for (; t < end_of_time; ++steps) {
    std::vector<double> w = y;
    int corrections = 0;
    for (double error = 1; error > tolerance; ++corrections) {
      error = 0;
      for (std::size_t i = 0; i < w.size(); ++i) {
        const double by = correction(y[i], w[i], dt);
        w[i] += by;
        error = std::max(error, std::fabs(by));
      }
    }
    y = w;
    t += dt;
    dt *= corrections > many_corrections ? 0.5 : 2;
  }
  return steps;
}

using vector_data = stf::logical_data<slice<double>>;
using number_data = stf::logical_data<number>;

void set(stf::context& ctx, const number_data& x, double value) {
  ctx.parallel_for(stf::box(1), x.write())->*STARLING_KERNEL(index_t, number v) { *v = value; };
}

void scale(stf::context& ctx, const number_data& x, double factor) {
  ctx.parallel_for(stf::box(1), x.rw())->*STARLING_KERNEL(index_t, number v) { *v *= factor; };
}

void add(stf::context& ctx, const number_data& x, double value) {
  ctx.parallel_for(stf::box(1), x.rw())->*STARLING_KERNEL(index_t, number v) { *v += value; };
}

void copy(stf::context& ctx, const vector_data& from, const vector_data& to) {
  ctx.parallel_for(to.shape(), from.read(), to.write())
          ->*STARLING_KERNEL(index_t i, slice<const double> f, slice<double> t) {
    t(i) = f(i);
  };
}

// One correction of w, and the largest one.
void correct(stf::context& ctx, const vector_data& y, const vector_data& w, const number_data& dt,
             const number_data& error) {
  ctx.parallel_for(w.shape(), y.read(), dt.read(), w.rw(), error.reduce(stf::reducer::maxval()))
          ->*STARLING_KERNEL(index_t i, slice<const double> y0, given_number by, slice<double> y1, double& largest) {
    const double c = correction(y0(i), y1(i), *by);
    y1(i) += c;
    const double size = c < 0 ? -c : c;
    largest = largest > size ? largest : size;
  };
}

int main() try {
  std::vector<double> y(n);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 0.5 + 0.05 * static_cast<double>(i);
  std::vector<double> expected = y;
  const int steps_expected = solve_in_order(expected);

  double steps = 0;
  stf::context ctx;
  {
    auto ly = ctx.logical_data(y);
    auto lSteps = ctx.logical_data(number(&steps));
    auto t = ctx.logical_data(stf::shape_of<number>());
    auto dt = ctx.logical_data(stf::shape_of<number>());
    set(ctx, t, 0);
    set(ctx, dt, first_step);

    const auto step = [&] {
      auto w = ctx.logical_data(ly.shape());  // for this step alone
      auto error = ctx.logical_data(stf::shape_of<number>());
      auto corrections = ctx.logical_data(stf::shape_of<number>());
      auto slow = ctx.logical_data(stf::shape_of<stf::scalar_view<int>>());
      copy(ctx, ly, w);
      set(ctx, corrections, 0);
      const auto round = [&] {
        correct(ctx, ly, w, dt, error);
        add(ctx, corrections, 1);
      };
      ctx.repeat_while(most_corrections, round, error.read())->*STARLING_KERNEL(given_number e) {
        return *e > tolerance;
      };
      copy(ctx, w, ly);
      ctx.parallel_for(stf::box(1), corrections.read(), dt.read(), t.rw(), slow.write())
              ->*STARLING_KERNEL(index_t, given_number c, given_number by, number time, stf::scalar_view<int> flag) {
        *time += *by;
        *flag = *c > many_corrections ? 1 : 0;
      };
      add(ctx, lSteps, 1);
      ctx.run_if(slow, [&] { scale(ctx, dt, 0.5); }, [&] { scale(ctx, dt, 2); });
    };
    ctx.repeat_while(most_steps, step, t.read())->*STARLING_KERNEL(given_number time) { return *time < end_of_time; };
  }
  ctx.finalize();

  double difference = 0;
  for (std::size_t i = 0; i < y.size(); ++i) difference = std::max(difference, std::fabs(y[i] - expected[i]));
  if (difference > 1e-8 || static_cast<int>(steps) != steps_expected) return 1;
  std::printf("%d numbers, %d steps of different lengths; the first is %.4f in the end, the last %.4f\n",
              static_cast<int>(n), static_cast<int>(steps), y.front(), y.back());
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
