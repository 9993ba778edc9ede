// Parts of data: heat spreads over a plate whose rows are partitioned among all devices. Each task reads its rows and
// one row of either neighbour, so it waits for these two alone, and of the neighbours one row moves in each step.
#include <cstdio>
#include <utility>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

// The new value in the middle; the edges of the plate stay as they are.
STARLING_HD double relaxed(double middle, double north, double south, double west, double east) {
  return 0.5 * middle + 0.125 * (north + south + west + east);
}

// The same by plain loops.
std::vector<double> expected(std::vector<double> u, index_t rows, index_t columns, int steps) {
  std::vector<double> v = u;
  for (int t = 0; t < steps; ++t) {
    const slice<const double, 2> from(u.data(), rows, columns);
    const slice<double, 2> to(v.data(), rows, columns);
    for (index_t i = 1; i < rows - 1; ++i)
      for (index_t j = 1; j < columns - 1; ++j)
        to(i, j) = relaxed(from(i, j), from(i - 1, j), from(i + 1, j), from(i, j - 1), from(i, j + 1));
    std::swap(u, v);
  }
  return u;
}

int main() try {
  constexpr index_t rows = 300;
  constexpr index_t columns = 200;
  constexpr int steps = 20;
  std::vector<double> plate(rows * columns);
  for (index_t i = 0; i < rows * columns; ++i) plate[static_cast<std::size_t>(i)] = static_cast<double>((i * 37) % 100);
  const std::vector<double> oracle = expected(plate, rows, columns, steps);

  stf::context ctx;
  const int devices = ctx.on().size();
  auto whole = ctx.logical_data(slice<double, 2>(plate.data(), rows, columns));
  auto other = ctx.logical_data(stf::shape_of<slice<double, 2>>(rows, columns));
  {
    auto u = ctx.split(whole, devices, stf::halo{1});
    auto v = ctx.split(other, devices, stf::halo{1});
    for (int t = 0; t < steps; ++t) {
      for (int d = 0; d < devices; ++d) {
        const index_t first = u.box(d).lower(0);                    // of the part, as a row of the whole
        const index_t above = first - u.box_with_halo(d).lower(0);  // rows that it sees before
        ctx.parallel_for(stf::exec_place::device(d), v[d].shape(), u.with_halo(d), v[d].write())
                ->*STARLING_KERNEL(index_t i, index_t j, slice<const double, 2> from, slice<double, 2> to) {
          const index_t k = i + above;
          const bool edge = first + i == 0 || first + i == rows - 1 || j == 0 || j == columns - 1;
          to(i, j) =
              edge ? from(k, j) : relaxed(from(k, j), from(k - 1, j), from(k + 1, j), from(k, j - 1), from(k, j + 1));
        };
      }
      std::swap(u, v);
    }
  }  // the parts are one again
  const stf::statistics done = ctx.statistics();
  ctx.finalize();

  for (std::size_t i = 0; i < oracle.size(); ++i)
    if (plate[i] < oracle[i] - 1e-9 || plate[i] > oracle[i] + 1e-9) return 1;
  std::printf("%d steps on %d devices, %.1f KB moved to, fro and between them\n", steps, devices,
              static_cast<double>(done.copied_bytes) / 1e3);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
