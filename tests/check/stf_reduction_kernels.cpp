// Tasks that reduce, in check mode: into slices and scalars, on several devices and on the host, between tasks that use
// the data otherwise, with little memory.
#include "starling/stf/context.hpp"
#include "support/checked.hpp"
#include "support/random.hpp"

namespace starling::test::stf_reduction_kernels_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::scalar_view;
using stf::slice;
namespace reducer = stf::reducer;

void add(stream& s, slice<int> x, int what) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) += what; }); });
}

TEST_CASE("random tasks that reduce") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 3);
      machine m = checked_machine(n_pes, 24);
      constexpr index_t n = 20;
      std::vector<int> x(n, 1), y(n, 2);
      int total = 3;
      int expected_x = 1, expected_y = 2, expected_total = 3;
      try {
        context ctx(m, {.backend = backend, .device_memory = seed % 2 == 0 ? std::size_t{3 * 256} : 0});
        auto dx = ctx.logical_data(x);
        auto dy = ctx.logical_data(y);
        auto t = ctx.logical_data(scalar_view<int>(&total));
        for (int step = 0; step < 14; ++step) {
          const auto what = static_cast<int>(r.below(100));
          const auto where = exec_place::device(static_cast<int>(r.below(n_pes)));
          switch (r.below(6)) {
            case 0:
              ctx.task(where, dx.read(), dy.rw())->*[](stream& s, slice<const int> a, slice<int> b) {
                s.launch(
                    2, STARLING_KERNEL(block & k) { k.for_each(k.my_share(n), [&](index_t i) { b(i) += a(i); }); });
              };
              expected_y += expected_x;
              break;
            case 1:
              ctx.host_launch(dx.reduce(reducer::sum()))->*[what](slice<int> a) {
                for (index_t i = 0; i < n; ++i) a(i) += what;
              };
              expected_x += what;
              break;
            case 2:
              ctx.task(where, dx.rw())->*[what](stream& s, slice<int> a) { add(s, a, what); };
              expected_x += what;
              break;
            default:
              ctx.task(where, dx.reduce(reducer::sum()), t.reduce(reducer::sum()))
                      ->*[what](stream& s, slice<int> a, scalar_view<int> one) {
                            add(s, a, what);
                            add(s, slice<int>(one.get(), 1), what);
                          };
              expected_x += what;
              expected_total += what;
          }
        }
        ctx.finalize();
      } catch (const check_error& e) {
        FAIL_CHECK(e.what());
      }
      CHECK(x == std::vector<int>(n, expected_x));
      CHECK(y == std::vector<int>(n, expected_y));
      CHECK(total == expected_total);
      CHECK(m.checked().accesses_seen);
    }
}

// Launches of recorded ones, and others, add to the same data one after the other.
TEST_CASE("recorded tasks that reduce, among others") {
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    machine m = checked_machine(2, 24);
    std::vector<int> x(20, 1), y(20, 0);
    try {
      context ctx(m, {.backend = backend});
      auto dx = ctx.logical_data(x);
      auto dy = ctx.logical_data(y);
      const auto give = [&](int pe, int what) {
        ctx.task(exec_place::device(pe), dx.reduce(reducer::sum()))->*[what](stream& s, slice<int> a) {
          add(s, a, what);
        };
      };
      give(0, 1);
      const stf::recorded_tasks recorded = ctx.record([&] {
        give(0, 10);
        give(1, 20);
        ctx.task(exec_place::device(1), dx.read(), dy.write())->*[](stream& s, slice<const int> a, slice<int> b) {
          s.copy(b.data_handle(), a.data_handle(), 20 * sizeof(int));
        };
        give(1, 30);
      });
      for (int k = 0; k < 2; ++k) {
        recorded.launch(2);
        give(1, 100);
        give(0, 200);
      }
      ctx.finalize();
    } catch (const check_error& e) {
      FAIL_CHECK(e.what());
    }
    // Of the last launch, what is given after the copy is not in it.
    CHECK(x == std::vector<int>(20, 2 + 4 * 60 + 2 * 300));
    CHECK(y == std::vector<int>(20, 2 + 4 * 60 + 300 - 30));
    CHECK(m.checked().accesses_seen);
  }
}

}  // namespace
}  // namespace starling::test::stf_reduction_kernels_tests
