// Loops of tasks that run as one persistent program: the values are those of the tasks one after the other, and of
// other contexts to the last bit.
#include <cstring>
#include <numeric>

#include "starling/stf/context.hpp"
#include "support/repetitions.hpp"
#include "support/task_loops.hpp"
#include "support/test_machine.hpp"

namespace starling::test::persistent_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::persistent_ctx;
using stf::scalar_view;
using stf::slice;

// Values may wrap round.
STARLING_HD std::int64_t times_plus(std::uint64_t factor, std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(factor * static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
}

TEST_CASE("random loops of tasks, among other tasks") {
  random r(41);
  for (int n_pes = 1; n_pes <= 4; ++n_pes)
    for (int i = 0; i < repetitions(12); ++i) {
      const auto m = test_machine(n_pes);
      if (!m) continue;
      const int data = 2 + static_cast<int>(r.below(5));
      task_program loop = random_task_program(r, n_pes, data, 1 + static_cast<int>(r.below(12)));
      task_program between = random_task_program(r, n_pes, data, 6);
      // Of one block, and of several.
      between.length = loop.length = 1 + r.below(i % 2 == 0 ? 70 : 1500);
      task_values expected = random_task_values(r, loop);
      task_values values = expected;
      INFO("seed " << r.seed << ", program " << i << ", " << n_pes << " devices\n"
                   << loop.text() << "--\n"
                   << between.text());
      persistent_ctx ctx(*m);
      std::vector<stf::logical_data<int_slice>> all;
      for (auto& v : values) all.push_back(ctx.logical_data(v));
      for (const task_step& s : between.steps) {
        submit(ctx, s, all);
        run_in_order({data, loop.length, {s}}, expected);
        const auto rounds = static_cast<std::uint64_t>(r.below(6));
        ctx.repeat(rounds, [&] {
          for (const task_step& l : loop.steps) submit_loop(ctx, l, all);
        });
        for (std::uint64_t k = 0; k < rounds; ++k) run_in_order(loop, expected);
      }
      all.clear();
      ctx.finalize();
      CHECK(values == expected);
    }
}

TEST_CASE("data goes to and fro between devices") {
  for (int n_pes = 1; n_pes <= 4; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const index_t n : {index_t{5}, index_t{3000}}) {
      std::vector<std::int64_t> x(static_cast<std::size_t>(n));
      std::iota(x.begin(), x.end(), 0);
      std::vector<std::int64_t> seen(x.size(), 0);
      persistent_ctx ctx(*m);
      auto a = ctx.logical_data(x).set_symbol("a");
      auto b = ctx.logical_data(seen).set_symbol("b");
      ctx.repeat(20, [&] {
        for (int pe = 0; pe < n_pes; ++pe)
          ctx.parallel_for(exec_place::device(pe), a.shape(), a.rw())->*STARLING_KERNEL(index_t i, int_slice v) {
            v(i) = times_plus(3, v(i), pe);
          };
        // Still reads when the next round would write already.
        ctx.parallel_for(exec_place::device(n_pes - 1), a.shape(), a.read(), b.rw())
                ->*STARLING_KERNEL(index_t i, const_int_slice v, int_slice w) {
          w(i) = times_plus(5, w(i), v(v.extent(0) - 1 - i));
        };
      });
      ctx.finalize();
      for (std::size_t i = 0; i < x.size(); ++i) {
        std::uint64_t mine = i, other = x.size() - 1 - i, sum = 0;
        for (int t = 0; t < 20; ++t) {
          for (int pe = 0; pe < n_pes; ++pe) {
            mine = 3 * mine + static_cast<std::uint64_t>(pe);
            other = 3 * other + static_cast<std::uint64_t>(pe);
          }
          sum = 5 * sum + other;
        }
        REQUIRE(static_cast<std::uint64_t>(x[i]) == mine);
        REQUIRE(static_cast<std::uint64_t>(seen[i]) == sum);
      }
    }
  }
}

// What a context of each kind makes of the same loops; compared by bits.
std::vector<double> relaxed(const machine& m, backend_kind backend, const exec_place& where, index_t n, int rounds) {
  std::vector<double> u(static_cast<std::size_t>(n * n)), results(3, 0.5);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = 1.0 / (1.0 + static_cast<double>(i * 7919 % 1009));
  context ctx(m, {.backend = backend});
  auto lu = ctx.logical_data(slice<double, 2>(u.data(), n, n));
  auto lv = ctx.logical_data(lu.shape());
  auto sum = ctx.logical_data(scalar_view<double>(&results[0]));
  auto kept = ctx.logical_data(scalar_view<double>(&results[1]));
  auto largest = ctx.logical_data(scalar_view<double>(&results[2]));
  ctx.parallel_for(where, lu.shape(), lu.read(), lv.write())
          ->*STARLING_KERNEL(index_t i, index_t j, slice<const double, 2> a, slice<double, 2> b) {
    b(i, j) = a(i, j);
  };
  using grid = stf::logical_data<slice<double, 2>>;
  const auto sweep = [&](const grid& from, const grid& to) {
    const auto inner = stf::box(index_range{1, n - 1}, index_range{1, n - 1});
    ctx.parallel_for(where, inner, from.read(), to.rw(), largest.reduce(stf::reducer::maxval()),
                     sum.reduce(stf::reducer::sum()))
            ->*STARLING_KERNEL(index_t i, index_t j, slice<const double, 2> a, slice<double, 2> b, double& most,
                               double& all) {
      b(i, j) = 0.25 * ((a(i - 1, j) + a(i + 1, j)) + (a(i, j - 1) + a(i, j + 1)));
      most = most > b(i, j) ? most : b(i, j);
      all += b(i, j);
    };
  };
  ctx.repeat(static_cast<std::uint64_t>(rounds), [&] {
    sweep(lu, lv);
    sweep(lv, lu);
    ctx.parallel_for(where, lu.shape(), lu.read(), kept.reduce(stf::reducer::sum(), stf::no_init()))
            ->*STARLING_KERNEL(index_t i, index_t j, slice<const double, 2> a, double& s) {
      s += a(i, j);
    };
  });
  ctx.finalize();
  u.insert(u.end(), results.begin(), results.end());
  return u;
}

TEST_CASE("loops with reductions give the bits of stream_ctx") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const index_t n : {index_t{3}, index_t{50}})
      for (const exec_place& where : {exec_place::device(n_pes - 1), exec_place::all_devices()}) {
        CAPTURE(n_pes);
        CAPTURE(n);
        const auto expected = relaxed(*m, backend_kind::stream, where, n, 7);
        const auto found = relaxed(*m, backend_kind::persistent, where, n, 7);
        REQUIRE(expected.size() == found.size());
        CHECK(std::memcmp(expected.data(), found.data(), found.size() * sizeof(double)) == 0);
      }
  }
}

TEST_CASE("loops of one to four dimensions, parts, tokens and temporaries") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<int> x(360, 1);
  std::vector<int> count(1, 0);
  persistent_ctx ctx(*m);
  auto a = ctx.logical_data(slice<int, 4>(x.data(), 3, 4, 5, 6));
  auto c = ctx.logical_data(count);
  auto order = ctx.token();
  auto b = ctx.logical_data(stf::shape_of<slice<int, 3>>(3, 4, 30));
  ctx.parallel_for(b.shape(), b.write())->*STARLING_KERNEL(index_t i, index_t j, index_t k, slice<int, 3> v) {
    v(i, j, k) = static_cast<int>(i + j + k);
  };
  ctx.repeat(3, [&] {
    auto t = ctx.logical_data(stf::shape_of<slice<int>>(100));
    ctx.parallel_for(exec_place::device(1), t.shape(), t.write(), order.read())
            ->*STARLING_KERNEL(index_t i, slice<int> v) {
      v(i) = static_cast<int>(i);
    };
    ctx.parallel_for(a.shape(), a.rw(), t.read())
            ->*STARLING_KERNEL(index_t i, index_t j, index_t k, index_t l, slice<int, 4> v, slice<const int> w) {
      v(i, j, k, l) += w(i + j + k + l);
    };
    ctx.parallel_for(exec_place::device(1), b.shape(), b.rw())
            ->*STARLING_KERNEL(index_t i, index_t j, index_t k, slice<int, 3> v) {
      v(i, j, k) *= 2;
    };
    ctx.parallel_for(exec_place::device(1), stf::box(1), c.rw(), b.read(), order.rw())
            ->*STARLING_KERNEL(index_t, slice<int> v, slice<const int, 3> w) {
      v(0) += w(2, 3, 29);
    };
    // No coordinates: nothing to do.
    ctx.parallel_for(stf::box(0), a.rw())->*STARLING_KERNEL(index_t, slice<int, 4> v) { v(0, 0, 0, 0) = -1; };
  });
  ctx.finalize();
  for (std::size_t at = 0; at < x.size(); ++at) {
    const auto sum = at / 120 + at / 30 % 4 + at / 6 % 5 + at % 6;
    REQUIRE(x[at] == 1 + 3 * static_cast<int>(sum));
  }
  CHECK(count[0] == 34 * (2 + 4 + 8));
}

TEST_CASE("parts on several devices") {
  for (int n_pes = 2; n_pes <= 4; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    std::vector<std::int64_t> x(400, 1);
    std::int64_t sum = 0;
    persistent_ctx ctx(*m);
    auto a = ctx.logical_data(x);
    auto total = ctx.logical_data(scalar_view<std::int64_t>(&sum));
    {
      auto parts = ctx.split(a, n_pes);
      ctx.repeat(10, [&] {
        for (int k = 0; k < n_pes; ++k)
          ctx.parallel_for(exec_place::device(k), parts[k].shape(), parts[k].rw(), parts[(k + 1) % n_pes].read())
                  ->*STARLING_KERNEL(index_t i, int_slice v, const_int_slice w) {
            v(i) += w(0) % 7;
          };
      });
      ctx.join(parts);
    }
    ctx.repeat(2, [&] {
      ctx.parallel_for(a.shape(), a.read(), total.reduce(stf::reducer::sum()))
              ->*STARLING_KERNEL(index_t i, const_int_slice v, std::int64_t& s) {
        s += v(i);
      };
    });
    ctx.finalize();
    std::vector<std::int64_t> expected(400, 1);
    for (int t = 0; t < 10; ++t)
      for (index_t k = 0; k < n_pes; ++k) {
        const index_range mine = stf::blocked().part(stf::box(400), k, n_pes).range(0);
        const index_range next = stf::blocked().part(stf::box(400), (k + 1) % n_pes, n_pes).range(0);
        const std::int64_t first = expected[static_cast<std::size_t>(next.begin)];
        for (index_t i = mine.begin; i < mine.end; ++i) expected[static_cast<std::size_t>(i)] += first % 7;
      }
    CHECK(x == expected);
    CHECK(sum == std::accumulate(x.begin(), x.end(), std::int64_t{0}));
  }
}

TEST_CASE("launches with scratch memory among loops") {
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : {backend_kind::stream, backend_kind::persistent}) {
      std::vector<int> x(64 * 7, 1);
      context ctx(*m, {.backend = backend});
      auto a = ctx.logical_data(x);
      const auto spec = stf::par(7, stf::con<64>(stf::mem(64 * sizeof(int))));
      using levels = stf::thread_hierarchy<std::remove_const_t<decltype(spec)>>;
      ctx.repeat(4, [&] {
        // Each group turns its part round.
        ctx.launch(spec, exec_place::device(n_pes - 1), a.rw())->*STARLING_KERNEL(levels th, slice<int> v) {
          const auto group = th.inner();
          const slice<int> room = group.template storage<int>(0);
          const index_t start = th.rank() / 64 * 64;
          room(group.rank()) = v(start + group.rank());
          group.sync();
          v(start + group.rank()) = room(63 - group.rank());
        };
        ctx.parallel_for(a.shape(), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) {
          v(i) = v(i) * 2 + static_cast<int>(i % 64);
        };
      });
      ctx.finalize();
      std::vector<int> expected(64, 1);
      for (int t = 0; t < 4; ++t) {
        std::reverse(expected.begin(), expected.end());
        for (int i = 0; i < 64; ++i)
          expected[static_cast<std::size_t>(i)] = expected[static_cast<std::size_t>(i)] * 2 + i;
      }
      for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(x[i] == expected[i % 64]);
    }
  }
}

// Counts to `end`; the flag is of another type each time.
template <class T>
void check_while(const machine& m, int end, std::uint64_t most, const exec_place& where) {
  std::vector<int> x(100, 0);
  T flag = 0;
  int sum = 0;
  persistent_ctx ctx(m);
  auto a = ctx.logical_data(x);
  auto total = ctx.logical_data(scalar_view<int>(&sum));
  auto again = ctx.logical_data(scalar_view<T>(&flag));
  ctx.repeat_while(
      again,
      [&] {
        ctx.parallel_for(where, a.shape(), a.rw())->*STARLING_KERNEL(index_t, slice<int>){};
        ctx.parallel_for(exec_place::device(0), a.shape(), a.rw(), total.reduce(stf::reducer::sum()))
                ->*STARLING_KERNEL(index_t i, slice<int> v, int& s) {
          s += ++v(i);
        };
        ctx.parallel_for(where, stf::box(1), total.read(), again.write())
                ->*STARLING_KERNEL(index_t, scalar_view<const int> s, scalar_view<T> f) {
          *f = *s < 100 * end ? static_cast<T>(T(1) << (8 * (sizeof(T) - 1) % 7)) : T(0);
        };
      },
      most);
  ctx.parallel_for(a.shape(), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1000; };
  ctx.finalize();
  const int rounds = std::min(static_cast<int>(most), std::max(end, 1));
  CHECK(x == std::vector<int>(100, 1000 + rounds));
  CHECK((flag != 0) == (rounds < end));
}

TEST_CASE("a reduction decides about the next round") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const int end : {0, 1, 2, 7, 40}) {
      const exec_place where = exec_place::device(n_pes - 1);
      check_while<int>(*m, end, 100, where);
      check_while<bool>(*m, end, 100, where);
      check_while<std::int64_t>(*m, end, 100, exec_place::device(0));
      check_while<std::uint16_t>(*m, end, 3, where);
    }
  }
}

TEST_CASE("outside of loops a persistent context does what stream_ctx does") {
  const auto m = test_machine(2);
  if (!m) return;
  random r(43);
  for (int i = 0; i < 6; ++i) {
    const task_program p = random_task_program(r, 2, 4, 30);
    task_values expected = random_task_values(r, p);
    task_values values = expected;
    INFO("seed " << r.seed << "\n" << p.text());
    persistent_ctx ctx(*m);
    run_tasks(p, ctx, values, 5);
    run_in_order(p, expected);
    CHECK(values == expected);
  }
}

TEST_CASE("record and launch do the tasks in streams, of any kind") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<int> x(10, 0);
  persistent_ctx ctx(*m);
  auto a = ctx.logical_data(x);
  const auto both = ctx.record([&] {
    ctx.parallel_for(exec_place::device(1), a.shape(), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) {
      v(i) += 1;
    };
    ctx.host_launch(a.rw())->*[](slice<int> v) { v(3) *= 2; };
  });
  both.launch(3);
  ctx.finalize();
  CHECK(x[0] == 3);
  CHECK(x[3] == 14);
}

}  // namespace
}  // namespace starling::test::persistent_tests
