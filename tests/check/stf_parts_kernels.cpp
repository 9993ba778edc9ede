// Parts of data in check mode: a stencil over devices whose tasks read rows of their neighbours, and random work on
// parts that come and go, pass all schedules with the values of the loop.
#include "starling/stf/context.hpp"
#include "support/checked.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/stf/line_stencil.hpp"

namespace starling::test::stf_parts_kernels_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

TEST_CASE("a stencil in parts") {
  for (const auto backend : stream_and_graph)
    for (int n_pes = 1; n_pes <= 3; ++n_pes) {
      const line_stencil s{.n = 24, .periodic = n_pes == 2};
      machine m = checked_machine(n_pes, 24);
      CAPTURE(n_pes);
      std::vector<std::int64_t> a(24);
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int64_t>(i * i % 17);
      std::vector<std::int64_t> expected = a;
      try {
        context ctx(m, {.backend = backend});
        auto d = ctx.logical_data(a);
        auto e = ctx.logical_data(stf::shape_of<slice<std::int64_t>>(s.n));
        auto u = ctx.split(d, n_pes + 1, s.around());
        auto v = ctx.split(e, n_pes + 1, s.around());
        for (int t = 0; t < 4; ++t) {
          for (int i = 0; i < u.size(); ++i) s.step(ctx, exec_place::device(i % n_pes), u, v, i);
          std::swap(u, v);
          expected = s.step(expected);
        }
        ctx.finalize();
      } catch (const check_error& e) {
        FAIL_CHECK(e.what());
      }
      CHECK(a == expected);
      CHECK(m.checked().accesses_seen);
    }
}

// Launches of a recorded step, and steps that have nothing but the rows around the parts in common with it.
TEST_CASE("recorded steps among others") {
  for (const auto backend : stream_and_graph) {
    const line_stencil s{.n = 12, .periodic = true};
    machine m = checked_machine(2, 24);
    std::vector<std::int64_t> a(12, 3), b(12, -1), c(12, -1);
    a[5] = 9;
    const std::vector<std::int64_t> expected = s.step(a);
    try {
      context ctx(m, {.backend = backend});
      auto d = ctx.logical_data(a);
      auto e = ctx.logical_data(b);
      auto f = ctx.logical_data(c);
      {
        const auto u = ctx.split(d, 3, s.around());
        const auto v = ctx.split(e, 3);
        const auto w = ctx.split(f, 3);
        const auto step_to = [&](const auto& target) {
          for (int i = 0; i < 3; ++i) s.step(ctx, exec_place::device(i % 2), u, target, i);
        };
        step_to(w);
        const stf::recorded_tasks step = ctx.record([&] { step_to(v); });
        for (int k = 0; k < 2; ++k) {
          step.launch();
          step_to(w);
        }
      }
      ctx.finalize();
    } catch (const check_error& e) {
      FAIL_CHECK(e.what());
    }
    CHECK(b == expected);
    CHECK(c == expected);
    CHECK(m.checked().accesses_seen);
  }
}

// Nothing but the rows themselves puts who reads them and who changes them in order.
TEST_CASE("rows of a neighbour that goes on") {
  for (const auto backend : stream_and_graph) {
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
    for (const auto backend : stream_and_graph) {
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
}  // namespace starling::test::stf_parts_kernels_tests
