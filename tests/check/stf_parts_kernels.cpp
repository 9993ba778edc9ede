// Parts of data in check mode: a stencil over devices whose tasks read rows of their neighbours, and random work on
// parts that come and go, pass all schedules with the values of the loop.
#include "starling/stf/context.hpp"
#include "support/checked.hpp"
#include "support/random.hpp"

namespace starling::test {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

constexpr stf::backend_kind back_ends[] = {stf::backend_kind::stream, stf::backend_kind::graph};

TEST_CASE("a stencil in parts") {
  for (const auto backend : back_ends)
    for (int n_pes = 1; n_pes <= 3; ++n_pes) {
      const bool periodic = n_pes == 2;
      constexpr index_t n = 24;
      machine m = checked_machine(n_pes, 24);
      CAPTURE(n_pes);
      std::vector<int> a(n);
      for (index_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i)] = static_cast<int>(i * i % 17);
      std::vector<int> expected = a;
      try {
        context ctx(m, {.backend = backend});
        auto d = ctx.logical_data(a);
        auto e = ctx.logical_data(stf::shape_of<slice<int>>(n));
        auto u = ctx.split(d, n_pes + 1, stf::halo{1, periodic});
        auto v = ctx.split(e, n_pes + 1, stf::halo{1, periodic});
        for (int t = 0; t < 4; ++t) {
          for (int i = 0; i < u.size(); ++i) {
            const index_t before = u.box(i).lower(0) - u.box_with_halo(i).lower(0);
            const index_t first = u.box(i).lower(0);
            ctx.parallel_for(exec_place::device(i % n_pes), v[i].shape(), u.with_halo(i), v[i].write())
                    ->*STARLING_KERNEL(index_t k, slice<const int> in, slice<int> out) {
              const int left = periodic || first + k > 0 ? in(before + k - 1) : 0;
              const int right = periodic || first + k < n - 1 ? in(before + k + 1) : 0;
              out(k) = (left + 2 * in(before + k) + right) % 1000;
            };
          }
          std::swap(u, v);
          std::vector<int> next(n);
          for (std::size_t k = 0; k < n; ++k)
            next[k] = ((periodic || k > 0 ? expected[(k + n - 1) % n] : 0) + 2 * expected[k] +
                       (periodic || k < n - 1 ? expected[(k + 1) % n] : 0)) %
                      1000;
          expected = next;
        }
        ctx.finalize();
      } catch (const check_error& e) {
        FAIL_CHECK(e.what());
      }
      CHECK(a == expected);
      CHECK(m.checked().accesses_seen);
    }
}

// Nothing but the rows themselves puts who reads them and who changes them in order.
TEST_CASE("rows of a neighbour that goes on") {
  for (const auto backend : back_ends) {
    constexpr index_t n = 12;
    machine m = checked_machine(2);
    std::vector<int> a(n, 1);
    std::vector<int> sums(5, 0);
    try {
      context ctx(m, {.backend = backend});
      auto d = ctx.logical_data(a);
      auto parts = ctx.split(d, 2, stf::halo{2});
      for (std::size_t t = 0; t < sums.size(); ++t) {
        ctx.parallel_for(exec_place::device(1), parts[1].shape(), parts[1].rw())
                ->*STARLING_KERNEL(index_t i, slice<int> x) {
          x(i) += 1;
        };
        auto out = ctx.logical_data(stf::scalar_view<int>(&sums[t]));
        ctx.parallel_for(exec_place::device(0), stf::box(8), parts.with_halo(0), out.reduce(stf::reducer::sum()))
                ->*STARLING_KERNEL(index_t i, slice<const int> x, int& s) {
          s += x(i);
        };
      }
      ctx.finalize();
    } catch (const check_error& e) {
      FAIL_CHECK(e.what());
    }
    for (std::size_t t = 0; t < sums.size(); ++t) CHECK(sums[t] == 6 + 2 * (static_cast<int>(t) + 2));
    CHECK(m.checked().accesses_seen);
  }
}

TEST_CASE("random work on parts that come and go") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const auto backend : back_ends) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 3);
      machine m = checked_machine(n_pes, 24);
      const index_t n = 2 + r.below(6);
      const index_t width = 2 + r.below(6);
      std::vector<int> a(static_cast<std::size_t>(n * width), 1);
      std::vector<int> expected = a;
      try {
        context ctx(m, {.backend = backend});
        auto d = ctx.logical_data(slice<int, 2>(a.data(), n, width));
        const auto change = [&](const auto& part, const stf::box<2>& where, int what) {
          ctx.parallel_for(exec_place::device(static_cast<int>(r.below(n_pes))), part.shape(), part.rw())
                  ->*[what](index_t i, index_t j, slice<int, 2> x) { x(i, j) = 2 * x(i, j) + what; };
          for (auto [i, j] : where) {
            int& x = expected[static_cast<std::size_t>(i * width + j)];
            x = 2 * x + what;
          }
        };
        for (int round = 0; round < 3; ++round) {
          change(d, stf::box(n, width), round);
          const int rows = 1 + static_cast<int>(r.below(3));
          const int columns = 1 + static_cast<int>(r.below(3));
          auto parts = r.below(2) == 0 ? ctx.split(d, {rows, columns}) : ctx.split(d, rows, stf::halo{1});
          for (int step = 0; step < 5; ++step) {
            const int i = static_cast<int>(r.below(parts.size()));
            change(parts[i], parts.box(i), step);
          }
          if (r.below(2) == 0) ctx.join(parts);
        }
        ctx.finalize();
      } catch (const check_error& e) {
        FAIL_CHECK(e.what());
      }
      CHECK(a == expected);
      CHECK(m.checked().accesses_seen);
    }
}

}  // namespace
}  // namespace starling::test
