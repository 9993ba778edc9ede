// launch as a task: figures 5 and 6 of the paper, on one device and on grids, in streams and graphs.
#include <numeric>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::launch_tests {
namespace {

using stf::con;
using stf::context;
using stf::exec_place;
using stf::hw_scope;
using stf::par;
using stf::slice;

std::vector<exec_place> places(int n_pes) {
  std::vector<exec_place> all = {exec_place::device(n_pes - 1), exec_place::all_devices()};
  if (n_pes > 1) all.push_back(exec_place::grid({1, 0}));
  return all;
}

void products(context& ctx, const exec_place& where, std::vector<std::int64_t>& a, std::vector<std::int64_t>& b) {
  const auto n = static_cast<index_t>(a.size());
  auto lA = ctx.logical_data(a);
  auto lB = ctx.logical_data(slice<std::int64_t, 2>(b.data(), n, n));
  const auto spec = par();
  ctx.launch(spec, where, lA.read(), lB.write())
          ->*STARLING_KERNEL(stf::thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<const std::int64_t> v,
                             slice<std::int64_t, 2> p) {
    for (auto [i, j] : th.apply_partition(stf::shape(p))) p(i, j) = v(i) * v(j);
  };
  ctx.finalize();
}

TEST_CASE("figure 5: a flat hierarchy") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph})
      for (const exec_place& where : places(n_pes)) {
        random r(static_cast<std::uint64_t>(n_pes + 30));
        INFO("seed " << r.seed << ", " << n_pes << " devices, on " << describe(where));
        std::vector<std::int64_t> a(static_cast<std::size_t>(1 + r.below(60)));
        for (auto& x : a) x = r.below(1000);
        std::vector<std::int64_t> b(a.size() * a.size(), -1);
        context ctx(*m, {.backend = backend});
        products(ctx, where, a, b);
        bool same = true;
        for (std::size_t i = 0; i < a.size(); ++i)
          for (std::size_t j = 0; j < a.size(); ++j) same = same && b[i * a.size() + j] == a[i] * a[j];
        CHECK(same);
      }
  }
}

// Integers, so that the order of the additions does not show.
void sum_of(context& ctx, const exec_place& where, std::vector<std::int64_t>& x, std::int64_t& sum) {
  auto lX = ctx.logical_data(x);
  auto lSum = ctx.logical_data(&sum, 1);
  const auto spec = par(con<32>(hw_scope::thread, stf::mem(32 * sizeof(std::int64_t))));
  ctx.launch(spec, where, lX.read(), lSum.rw())
          ->*STARLING_KERNEL(stf::thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<const std::int64_t> v,
                             slice<std::int64_t> total) {
    std::int64_t local_sum = 0;
    for (auto [i] : th.apply_partition(stf::shape(v))) local_sum += v(i);
    const auto ti = th.inner();
    const slice<std::int64_t> block_sum = ti.template storage<std::int64_t>(0);
    block_sum(ti.rank()) = local_sum;
    ti.sync();
    for (index_t s = ti.size() / 2; s > 0; s /= 2) {
      if (ti.rank() < s) block_sum(ti.rank()) += block_sum(ti.rank() + s);
      ti.sync();
    }
    if (ti.rank() == 0) cuda::atomic_ref<std::int64_t, cuda::thread_scope_system>(total(0)).fetch_add(block_sum(0));
  };
  ctx.finalize();
}

TEST_CASE("figure 6: a reduction over all devices") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph})
      for (const exec_place& where : places(n_pes)) {
        random r(static_cast<std::uint64_t>(n_pes + 40));
        INFO("seed " << r.seed << ", " << n_pes << " devices, on " << describe(where));
        std::vector<std::int64_t> x(static_cast<std::size_t>(1 + r.below(20000)));
        for (auto& v : x) v = r.below(1000);
        std::int64_t sum = 7;
        context ctx(*m, {.backend = backend});
        sum_of(ctx, where, x, sum);
        CHECK(sum == std::accumulate(x.begin(), x.end(), std::int64_t{7}));
      }
  }
}

// Threads of all blocks wait for each other: each doubles what its neighbour wrote in the round before.
void rotate(context& ctx, std::vector<std::int64_t>& x, int rounds) {
  auto lX = ctx.logical_data(x);
  const auto spec = con(6, con<32>());
  ctx.launch(spec, lX.rw())
          ->*STARLING_KERNEL(stf::thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<std::int64_t> v) {
    for (int k = 0; k < rounds; ++k) {
      const std::int64_t next = 2 * v((th.rank() + 1) % th.size());
      th.sync();
      v(th.rank()) = next;
      th.sync();
    }
  };
  ctx.finalize();
}

TEST_CASE("threads of several blocks synchronise") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    std::vector<std::int64_t> x(192);
    std::iota(x.begin(), x.end(), 0);
    context ctx(*m, {.backend = backend});
    rotate(ctx, x, 5);
    bool same = true;
    for (std::size_t i = 0; i < x.size(); ++i) same = same && x[i] == static_cast<std::int64_t>(32 * ((i + 5) % 192));
    CHECK(same);
  }
}

TEST_CASE("launches are for devices") {
  const auto m = test_machine(1);
  if (!m) return;
  std::vector<std::int64_t> x(4);
  std::int64_t sum = 0;
  context ctx(*m);
  CHECK_THROWS_WITH_AS(sum_of(ctx, exec_place::host(), x, sum), doctest::Contains("thread hierarchies run on devices"),
                       argument_error);
  ctx.finalize();
}

TEST_CASE("without a specification, and by one that is const") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph})
      for (const exec_place& where : places(n_pes)) {
        context ctx(*m, {.backend = backend});
        std::vector<int> x(1000, 1);
        auto d = ctx.logical_data(x);
        ctx.launch(where, d.rw())->*STARLING_KERNEL(stf::default_hierarchy th, slice<int> v) {
          for (auto [i] : th.apply_partition(stf::shape(v))) v(i) += 1;
          th.inner().sync();  // the threads of a block may
        };
        const auto spec = stf::par(stf::con<32>());
        ctx.launch(spec, where, d.rw())->*STARLING_KERNEL(stf::thread_hierarchy<decltype(spec)> th, slice<int> v) {
          for (auto [i] : th.apply_partition(stf::shape(v))) v(i) *= 3;
          th.inner().sync();
        };
        ctx.launch(d.rw())->*STARLING_KERNEL(stf::default_hierarchy th, slice<int> v) {
          for (auto [i] : th.apply_partition(stf::shape(v))) v(i) += 1;
        };
        ctx.finalize();
        CHECK(x == std::vector<int>(1000, 7));
      }
  }
}

}  // namespace
}  // namespace starling::test::launch_tests
