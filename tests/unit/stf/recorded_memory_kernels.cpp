// Recorded tasks where memory is little: what a recording needs stays, and what it does not need gives way.
#include <numeric>

#include "support/random.hpp"
#include "support/stf/adding_tasks.hpp"
#include "support/test_machine.hpp"

namespace starling::test::recorded_memory_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::recorded_tasks;
using stf::slice;

TEST_CASE("little memory: what a recording needs stays, other data moves") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : {backend_kind::stream, backend_kind::graph}) {
    std::vector<std::vector<int>> x(6, std::vector<int>(192, 0));
    context ctx(*m, {.backend = backend, .device_memory = 4 * 768});
    std::vector<stf::logical_data<slice<int>>> d;
    for (auto& v : x) d.push_back(ctx.logical_data(v));
    {
      const recorded_tasks r = ctx.record([&] {
        ctx.task(d[0].rw())->*add_one;
        ctx.task(d[0].read(), d[1].rw())->*add_all;
      });
      for (int k = 0; k < 4; ++k) {
        r.launch();
        for (std::size_t i = 2; i < 6; ++i) ctx.task(d[i].rw())->*add_one;
      }
      // Four at once do not fit beside it.
      CHECK_THROWS_AS((ctx.task(d[2].rw(), d[3].rw(), d[4].rw())->*[](stream&, auto, auto, auto) {}), memory_error);
    }
    ctx.task(d[2].rw(), d[3].rw(), d[4].rw())->*[](stream& s, auto a, auto b, auto c) {
      add_one(s, a);
      add_one(s, b);
      add_one(s, c);
    };
    ctx.finalize();
    CHECK(x[0] == std::vector<int>(192, 4));
    CHECK(x[1] == std::vector<int>(192, 10));
    CHECK(x[4] == std::vector<int>(192, 5));
    CHECK(x[5] == std::vector<int>(192, 4));
  }
}

// Recordings of which each has memory of its own, one after another: what no recording needs any more gives way.
TEST_CASE("little memory: data that a recording does not use gives way to it") {
  const auto m = test_machine(2);
  if (!m) return;
  constexpr int n = 192;
  constexpr std::size_t many = 20;
  for (const auto backend : {backend_kind::stream, backend_kind::graph, backend_kind::persistent}) {
    std::vector<std::vector<int>> x(many, std::vector<int>(n, 0));
    for (std::size_t i = 0; i < many; ++i) std::iota(x[i].begin(), x[i].end(), static_cast<int>(1000 * i));
    std::vector<std::vector<int>> expected = x;
    // Five fit.
    context ctx(*m, {.backend = backend, .device_memory = 5 * n * sizeof(int)});
    std::vector<stf::logical_data<slice<int>>> d;
    for (auto& v : x) d.push_back(ctx.logical_data(v));
    const auto loop = [&](std::size_t into, std::size_t from, int pe) {
      ctx.parallel_for(exec_place::device(pe), d[into].shape(), d[from].read(), d[into].rw())
              ->*STARLING_KERNEL(index_t k, slice<const int> v, slice<int> w) {
        w(k) = (3 * w(k) + v(k) + 1) % 1'000'003;
      };
    };
    const auto expect = [&](std::size_t into, std::size_t from) {
      for (std::size_t k = 0; k < n; ++k)
        expected[into][k] = (3 * expected[into][k] + expected[from][k] + 1) % 1'000'003;
    };
    random r(7);
    const auto draw = [&] { return static_cast<std::size_t>(r.below(many)); };
    for (int round = 0; round < 60; ++round) {
      const std::size_t a = draw();
      const std::size_t b = (a + 1 + static_cast<std::size_t>(r.below(many - 1))) % many;
      const std::size_t c = (b + 1 + static_cast<std::size_t>(r.below(many - 1))) % many;
      const int pe = static_cast<int>(r.below(2));
      // Tasks of the context between the loops.
      if (r.below(3) == 0) {
        loop(c, a == c ? b : a, 1 - pe);
        expect(c, a == c ? b : a);
      }
      const auto times = static_cast<std::uint64_t>(1 + r.below(3));
      ctx.repeat(times, [&] {
        loop(a, b, pe);
        loop(b, c, pe);
      });
      for (std::uint64_t t = 0; t < times; ++t) {
        expect(a, b);
        expect(b, c);
      }
      CHECK(ctx.statistics().places[static_cast<std::size_t>(pe)].most_in_use <= 5 * n * sizeof(int));
    }
    CHECK(ctx.statistics().evictions > 0);
    {
      // As much as one recording has itself does not give way.
      const recorded_tasks kept = ctx.record([&] {
        loop(0, 1, 0);
        loop(2, 3, 0);
      });
      CHECK_THROWS_AS((void)ctx.record([&] { loop(4, 5, 0); }), memory_error);
      kept.launch(2);
      for (int t = 0; t < 2; ++t) {
        expect(0, 1);
        expect(2, 3);
      }
    }
    ctx.repeat(2, [&] { loop(4, 5, 0); });
    for (int t = 0; t < 2; ++t) expect(4, 5);
    ctx.finalize();
    CHECK(x == expected);
  }
}

}  // namespace
}  // namespace starling::test::recorded_memory_tests
