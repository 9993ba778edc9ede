// Places as values: the devices of a place one by one, PEs that use the data of another one, which is how those of one
// GPU share it, and partitioners over several dimensions that drive loops and data.
#include <vector>

#include "starling/stf/context.hpp"
#include "support/stf/back_ends.hpp"
#include "support/test_machine.hpp"

namespace starling::test::places_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

TEST_CASE("the devices of a place, one by one") {
  const auto m = test_machine(3);
  if (!m) return;
  context ctx(*m);
  std::vector<exec_place> wanted;
  for (int pe = 0; pe < 3; ++pe) wanted.push_back(exec_place::device(pe));
  CHECK(ctx.places() == wanted);
  CHECK(ctx.places(exec_place::grid({2, 0, 2})) == std::vector{wanted[2], wanted[0], wanted[2]});
  CHECK(ctx.places(exec_place::device(1)) == std::vector{wanted[1]});
  CHECK(ctx.places(exec_place::host()) == std::vector{exec_place::host()});
  std::vector<int> x(30, 1);
  auto parts = ctx.split(ctx.logical_data(x), 3);
  int i = 0;
  for (const exec_place& p : ctx.places()) {
    ctx.parallel_for(p, parts[i].shape(), parts[i].rw())->*STARLING_KERNEL(index_t k, slice<int> v) { v(k) += 10 * i; };
    ++i;
  }
  ctx.finalize();
  for (std::size_t k = 0; k < 30; ++k) CHECK(x[k] == 1 + 10 * static_cast<int>(k / 10));
}

// One PE works on a large loop while another one, a partition of the same GPU where there is one, does many small ones;
// both on the same instance.
TEST_CASE("PEs that use one instance") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    std::vector<double> x(1000, 1.0), y(1000, 0.0), small(10, 0.0);
    context ctx(*m, {.backend = backend});
    auto lx = ctx.logical_data(x);
    auto ly = ctx.logical_data(y);
    auto ls = ctx.logical_data(small);
    const data_place memory = data_place::device(0);
    ctx.parallel_for(exec_place::device(0), lx.shape(), lx.read(memory), ly.rw(memory))
            ->*STARLING_KERNEL(index_t i, slice<const double> a, slice<double> b) {
      b(i) += a(i);
    };
    for (int round = 0; round < 5; ++round)
      ctx.parallel_for(exec_place::device(1), ls.shape(), lx.read(memory), ls.rw(memory))
              ->*STARLING_KERNEL(index_t i, slice<const double> a, slice<double> b) {
        b(i) += a(100 * i);
      };
    ctx.parallel_for(exec_place::device(1), ly.shape(), ly.rw(memory))->*STARLING_KERNEL(index_t i, slice<double> b) {
      b(i) *= 2;
    };
    ctx.finalize();
    CHECK(y == std::vector<double>(1000, 2.0));
    CHECK(small == std::vector<double>(10, 5.0));
    // There and back, and none between the PEs.
    CHECK(ctx.statistics().copies == 3 + 2);
    CHECK(ctx.statistics().places[1].most_in_use == 0);
  }
}

template <class Partitioner>
void check_over(const machine& m, const exec_place& where, const Partitioner& p) {
  for (const auto backend : stream_and_graph) {
    constexpr index_t rows = 37;
    constexpr index_t columns = 23;
    std::vector<double> x(rows * columns);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
    double sum = -1;
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(slice<double, 2>(x.data(), rows, columns));
    auto total = ctx.logical_data(stf::scalar_view<double>(&sum));
    const auto lies = data_place::composite(p, where);
    ctx.parallel_for(p, where, d.shape(), d.rw(lies))->*STARLING_KERNEL(index_t i, index_t j, slice<double, 2> v) {
      v(i, j) = 2 * v(i, j) + static_cast<double>(j);
    };
    ctx.parallel_for(p, where, stf::inner(d.shape(), 1), d.read(lies), total.reduce(stf::reducer::sum()))
            ->*STARLING_KERNEL(index_t i, index_t j, slice<const double, 2> v, double& s) {
      s += v(i, j);
    };
    ctx.finalize();
    double wanted = 0;
    index_t wrong = 0;
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j) {
        const auto value = static_cast<double>(2 * (i * columns + j) + j);
        wrong += x[static_cast<std::size_t>(i * columns + j)] != value;
        if (i >= 1 && i < rows - 1 && j >= 1 && j < columns - 1) wanted += value;
      }
    CHECK(wrong == 0);
    CHECK(sum == wanted);
  }
}

TEST_CASE("loops and data over a grid of devices in two dimensions") {
  const auto m = test_machine(4);
  if (!m) return;
  const exec_place all = exec_place::all_devices();
  check_over(*m, all, stf::blocked_grid{2, 2});
  check_over(*m, all, stf::blocked_grid{1, 4});
  check_over(*m, all, stf::tiled_grid<1, 1>{2, 2});
  check_over(*m, all, stf::tiled_grid<8, 5>{4, 1});
  check_over(*m, exec_place::grid({3, 1, 0, 2, 1, 0}), stf::tiled_grid<4, 4>{2, 3});
}

TEST_CASE("data that is split over a grid in two dimensions") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<int> x(6 * 10, 1);
  context ctx(*m);
  {
    auto blocks = ctx.split(ctx.logical_data(slice<int, 2>(x.data(), 6, 10)), 4, stf::blocked_grid{2, 2});
    CHECK(blocks.box(3) == stf::box({3, 6}, {5, 10}));
    for (int i = 0; i < 4; ++i)
      ctx.parallel_for(exec_place::device(i % 2), blocks[i].shape(), blocks[i].rw())
              ->*STARLING_KERNEL(index_t r, index_t c, slice<int, 2> v) {
        v(r, c) += 10 * i;
      };
  }
  ctx.finalize();
  for (std::size_t i = 0; i < 60; ++i) CHECK(x[i] == 1 + 10 * static_cast<int>(i / 30 * 2 + i % 10 / 5));
}

}  // namespace
}  // namespace starling::test::places_tests
