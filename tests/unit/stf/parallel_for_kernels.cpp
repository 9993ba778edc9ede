// parallel_for: figure 4 of the paper, loops over all devices with unchanged bodies, reductions, loops of the host.
#include <algorithm>
#include <numeric>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/stf/triangle.hpp"
#include "support/test_machine.hpp"

namespace starling::test::parallel_for_tests {
namespace {

using stf::box;
using stf::context;
using stf::exec_place;
using stf::slice;

std::vector<exec_place> places(int n_pes) {
  std::vector<exec_place> all = {exec_place::device(n_pes - 1), exec_place::all_devices(), exec_place::host()};
  if (n_pes > 1) all.push_back(exec_place::grid({1, 0, 1}));
  return all;
}

void outer_product(context& ctx, const exec_place& where, const std::vector<std::int64_t>& a,
                   std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> x(a.size());
  auto lX = ctx.logical_data(x);
  auto lA = ctx.logical_data(slice<std::int64_t>(const_cast<std::int64_t*>(a.data()), static_cast<index_t>(a.size())));
  auto lB = ctx.logical_data(
      slice<std::int64_t, 2>(b.data(), static_cast<index_t>(a.size()), static_cast<index_t>(a.size())));
  ctx.parallel_for(where, lX.shape(), lA.read(), lX.write())
          ->*STARLING_KERNEL(index_t i, slice<const std::int64_t> v, slice<std::int64_t> w) {
    w(i) = 2 * v(i) + i;
  };
  ctx.parallel_for(where, lB.shape(), lA.read(), lX.read(), lB.write())
          ->*STARLING_KERNEL(index_t i, index_t j, slice<const std::int64_t> v, slice<const std::int64_t> w,
                             slice<std::int64_t, 2> p) {
    p(i, j) = v(i) * w(j);
  };
  ctx.finalize();
}

TEST_CASE("loops over one and two dimensions") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph})
      for (const exec_place& where : places(n_pes)) {
        random r(static_cast<std::uint64_t>(n_pes));
        INFO("seed " << r.seed << ", " << n_pes << " devices, on " << describe(where));
        std::vector<std::int64_t> a(static_cast<std::size_t>(1 + r.below(100)));
        for (auto& x : a) x = r.below(1000);
        std::vector<std::int64_t> b(a.size() * a.size(), -1);
        context ctx(*m, {.backend = backend});
        outer_product(ctx, where, a, b);
        bool same = true;
        for (std::size_t i = 0; i < a.size(); ++i)
          for (std::size_t j = 0; j < a.size(); ++j)
            same = same && b[i * a.size() + j] == a[i] * (2 * a[j] + static_cast<std::int64_t>(j));
        CHECK(same);
      }
  }
}

// Compiled by both compilers: one of them refuses conversions that the other lets pass.
TEST_CASE("a user's shape, whose size is unsigned, on every place") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph})
      for (const exec_place& where : places(n_pes)) {
        INFO(n_pes << " devices, on " << describe(where));
        const triangle pairs{13};
        std::vector<int> seen(pairs.size(), -1);
        int visits = -1;
        context ctx(*m, {.backend = backend});
        auto lSeen = ctx.logical_data(seen);
        auto lVisits = ctx.logical_data(stf::scalar_view<int>(&visits));
        ctx.parallel_for(where, pairs, lSeen.write())->*STARLING_KERNEL(index_t i, index_t j, slice<int> s) {
          s(i * (i + 1) / 2 + j) = static_cast<int>(100 * i + j);
        };
        ctx.parallel_for(stf::cyclic(), where, pairs, lSeen.rw(), lVisits.reduce(stf::reducer::sum()))
                ->*STARLING_KERNEL(index_t i, index_t j, slice<int> s, int& n) {
          s(i * (i + 1) / 2 + j) += 1;
          n += 1;
        };
        ctx.finalize();
        CHECK(visits == 91);
        bool same = true;
        for (index_t k = 0; k < 91; ++k) {
          const auto [i, j] = pairs.index_to_coords(k);
          same = same && seen[static_cast<std::size_t>(k)] == 100 * i + j + 1;
        }
        CHECK(same);
      }
  }
}

void sums(context& ctx, const exec_place& where, std::vector<double>& x, double& sum, double& largest) {
  auto lX = ctx.logical_data(x);
  auto lSum = ctx.logical_data(stf::scalar_view<double>(&sum));
  auto lMax = ctx.logical_data(&largest, 1);
  ctx.parallel_for(where, lX.shape(), lX.read(), lSum.reduce(stf::reducer::sum(), stf::no_init()),
                   lMax.reduce(stf::reducer::maxval()))
          ->*STARLING_KERNEL(index_t i, slice<const double> v, double& s, double& top) {
    s += v(i);
    top = top > v(i) ? top : v(i);
  };
  ctx.finalize();
}

TEST_CASE("reductions are right and the same every time") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const exec_place& where : places(n_pes)) {
      random r(static_cast<std::uint64_t>(n_pes + 10));
      INFO("seed " << r.seed << ", " << n_pes << " devices, on " << describe(where));
      std::vector<double> x(static_cast<std::size_t>(1 + r.below(5000)));
      for (auto& v : x) v = r.real();
      const double expected = 100 + std::accumulate(x.begin(), x.end(), 0.0);
      std::vector<double> results;
      for (int run = 0; run < 3; ++run)
        for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
          double sum = 100;
          double largest = 1e9;
          context ctx(*m, {.backend = backend});
          sums(ctx, where, x, sum, largest);
          results.push_back(sum);
          CHECK(sum == doctest::Approx(expected).epsilon(1e-12));
          CHECK(largest == *std::max_element(x.begin(), x.end()));
        }
      CHECK(std::count(results.begin(), results.end(), results[0]) == static_cast<std::ptrdiff_t>(results.size()));
    }
  }
}

void relax(context& ctx, const exec_place& where, std::vector<std::int64_t>& u, int steps) {
  std::vector<std::int64_t> other(u.size());
  auto a = ctx.logical_data(u);
  auto b = ctx.logical_data(other);
  const auto inner = box(index_range{1, static_cast<index_t>(u.size()) - 1});
  ctx.parallel_for(where, a.shape(), a.read(), b.write())
          ->*STARLING_KERNEL(index_t i, slice<const std::int64_t> from, slice<std::int64_t> to) {
    to(i) = from(i);
  };
  for (int t = 0; t < steps; ++t) {
    ctx.parallel_for(where, inner, a.read(), b.rw())
            ->*STARLING_KERNEL(index_t i, slice<const std::int64_t> from, slice<std::int64_t> to) {
      to(i) = from(i - 1) + 2 * from(i) - from(i + 1);
    };
    std::swap(a, b);
    ctx.fence();
  }
  ctx.parallel_for(where, inner, a.read(), b.rw())
          ->*STARLING_KERNEL(index_t i, slice<const std::int64_t> from, slice<std::int64_t> to) {
    to(i) = from(i);
  };
  ctx.finalize();
  if (steps % 2 == 0) u = other;
}

// Each device reads what others wrote.
TEST_CASE("repeated loops over data that lies on several devices") {
  for (int n_pes = 1; n_pes <= 4; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
      random r(static_cast<std::uint64_t>(n_pes + 20));
      INFO("seed " << r.seed << ", " << n_pes << " devices");
      std::vector<std::int64_t> u(static_cast<std::size_t>(2000 + r.below(3000)));
      for (auto& v : u) v = r.below(10);
      std::vector<std::int64_t> expected = u;
      for (int t = 0; t < 7; ++t) {
        const auto before = expected;
        for (std::size_t i = 1; i + 1 < u.size(); ++i) expected[i] = before[i - 1] + 2 * before[i] - before[i + 1];
      }
      context ctx(*m, {.backend = backend});
      relax(ctx, exec_place::all_devices(), u, 7);
      CHECK(u == expected);
    }
  }
}

}  // namespace
}  // namespace starling::test::parallel_for_tests
