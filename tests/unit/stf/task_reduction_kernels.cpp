// Tasks that reduce: each into an instance of its own, at the same time, combined in the order of their submission.
#include <atomic>
#include <chrono>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/test_machine.hpp"

namespace starling::test::task_reduction_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::scalar_view;
using stf::slice;
namespace reducer = stf::reducer;

// The slope and the offset of two linear maps, one after the other: the order matters.
struct linear {
  std::int64_t slope;
  std::int64_t offset;
  friend bool operator==(const linear&, const linear&) = default;
};
struct after {
  STARLING_HD linear identity() const { return {1, 0}; }
  STARLING_HD linear operator()(const linear& a, const linear& b) const {
    return {a.slope * b.slope % 1009, (a.slope * b.offset + a.offset) % 1009};
  }
};
// An operator with a value of its own.
struct sum_modulo {
  std::int64_t modulus;
  STARLING_HD std::int64_t identity() const { return 0; }
  STARLING_HD std::int64_t operator()(const std::int64_t& a, const std::int64_t& b) const { return (a + b) % modulus; }
};

void add(stream& s, slice<double> x, double what) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) += what; }); });
}

// Sums of numbers whose order shows in the last bits.
TEST_CASE("sums over devices and the host, in the order of the tasks") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 4);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      const index_t n = 1 + r.below(50);
      std::vector<double> x(static_cast<std::size_t>(n), 0.1);
      double total = 0.3;
      std::vector<double> expected = x;
      double expected_total = total;
      context ctx(*m, {.backend = backend, .device_memory = seed % 2 == 0 ? std::size_t{5 * 512} : 0});
      auto d = ctx.logical_data(x);
      auto t = ctx.logical_data(scalar_view<double>(&total));
      for (int step = 0; step < 70; ++step) {
        const double what = r.real() * 1e3;
        const int pe = static_cast<int>(r.below(n_pes));
        switch (r.below(8)) {
          case 0:
            ctx.host_launch(d.reduce(reducer::sum()))->*[what](slice<double> v) {
              for (index_t i = 0; i < v.extent(0); ++i) v(i) += what;
            };
            break;
          case 1:
            ctx.task(exec_place::device(pe), d.rw())->*[](stream& s, slice<double> v) { add(s, v, 0.7); };
            for (double& v : expected) v += 0.7;
            continue;
          case 2:
            CHECK(ctx.wait(d)(0) == expected[0]);
            continue;
          case 3:
            ctx.fence();
            continue;
          default:
            ctx.task(exec_place::device(pe), d.reduce(reducer::sum()), t.reduce(reducer::sum(), stf::no_init()))
                    ->*[what](stream& s, slice<double> v, scalar_view<double> one) {
                          add(s, v, what);
                          add(s, slice<double>(one.get(), 1), what);
                        };
            expected_total += what;
        }
        for (double& v : expected) v += what;
      }
      ctx.finalize();
      CHECK(x == expected);
      CHECK(total == expected_total);
    }
}

TEST_CASE("operators of users, and one after the other") {
  const auto m = test_machine(3);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    random r(7);
    linear map{3, 4};
    linear expected = map;
    std::int64_t number = 5;
    std::int64_t expected_number = number;
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(scalar_view<linear>(&map));
    auto k = ctx.logical_data(scalar_view<std::int64_t>(&number));
    for (int i = 0; i < 40; ++i) {
      const linear next{1 + r.below(1000), r.below(1000)};
      ctx.task(exec_place::device(i % 3), d.reduce(after()))->*[next](stream& s, scalar_view<linear> mine) {
        linear* at = mine.get();
        s.launch(
            1, STARLING_KERNEL(block & b) {
              if (b.member() == 0) *at = after()(*at, next);
            });
      };
      expected = after()(expected, next);
      const sum_modulo op{i % 5 == 0 ? 7 : 100};
      const std::int64_t what = r.below(1000);
      ctx.task(exec_place::device(i % 2), k.reduce(op))->*[what, op](stream& s, scalar_view<std::int64_t> mine) {
        std::int64_t* at = mine.get();
        s.launch(
            1, STARLING_KERNEL(block & b) {
              if (b.member() == 0) *at = op(*at, what);
            });
      };
      expected_number = op(expected_number, op(0, what));
    }
    ctx.finalize();
    CHECK(map == expected);
    CHECK(number == expected_number);
  }
}

TEST_CASE("to start over") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    std::vector<double> x(10, 100.0), out(10, -1.0);
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(x);
    auto fresh = ctx.logical_data(stf::shape_of<slice<double>>(10));
    auto result = ctx.logical_data(out);
    const auto give = [&](auto use, int pe, double what) {
      ctx.task(exec_place::device(pe), use)->*[what](stream& s, slice<double> v) { add(s, v, what); };
    };
    give(d.reduce(reducer::sum()), 0, 1);
    give(d.reduce(reducer::sum(), stf::do_init()), 1, 2);
    give(d.reduce(reducer::sum()), 0, 3);
    give(fresh.reduce(reducer::sum(), stf::do_init()), 0, 10);
    give(fresh.reduce(reducer::sum()), 1, 20);
    ctx.task(fresh.read(), result.write())->*[](stream& s, slice<const double> v, slice<double> o) {
      s.copy(o.data_handle(), v.data_handle(), 10 * sizeof(double));
    };
    // Writing forgets what was added.
    give(result.reduce(reducer::sum()), 1, 5);
    give(fresh.reduce(reducer::sum()), 1, 1000);
    ctx.task(fresh.write())->*[](stream& s, slice<double> v) { s.fill(v.data_handle(), 0, 80); };
    CHECK(ctx.wait(fresh)(3) == 0);
    ctx.finalize();
    CHECK(x == std::vector<double>(10, 5.0));
    CHECK(out == std::vector<double>(10, 35.0));
  }
}

// The first body goes on when the second has begun.
TEST_CASE("tasks that reduce do not wait for each other") {
  if (skipped_on_gpus("run several functions of the host at a time")) return;
  const auto m = test_machine(1);
  if (!m || m->checking()) return;  // functions of the host take turns there
  std::atomic<bool> second{false};
  std::atomic<bool> met{false};
  int sum = 1;
  context ctx(*m);
  auto d = ctx.logical_data(scalar_view<int>(&sum));
  ctx.host_launch(d.reduce(reducer::sum()))->*[&](scalar_view<int> x) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!second && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    met = second.load();
    *x += 10;
  };
  ctx.host_launch(d.reduce(reducer::sum()))->*[&](scalar_view<int> x) {
    second = true;
    *x += 100;
  };
  ctx.finalize();
  CHECK(met);
  CHECK(sum == 111);
}

TEST_CASE("parts, hierarchies, loops and drawings") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(8, 1);
    int total = 0;
    context ctx(*m, {.backend = backend, .drawing = true});
    auto d = ctx.logical_data(x).set_symbol("d");
    auto t = ctx.logical_data(scalar_view<int>(&total)).set_symbol("t");
    {
      auto parts = ctx.split(d, 2, stf::halo{1});
      for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 2; ++i)
          ctx.launch(stf::par(4), exec_place::device(1 - i), parts[i].reduce(reducer::sum()))
                  ->*STARLING_KERNEL(stf::thread_hierarchy<decltype(stf::par(4))> th, slice<int> v) {
            for (auto [k] : th.apply_partition(stf::shape(v))) v(k) += 1 + static_cast<int>(k);
          };
      // Of 3 4 5 6, 3 4 5 6: the window of part 0 is 1 + 2 (1 2 3 4) and 1 + 2 of the neighbour.
      ctx.parallel_for(exec_place::device(0), stf::box(5), parts.with_halo(0), t.reduce(reducer::sum()))
              ->*STARLING_KERNEL(index_t k, slice<const int> v, int& s) {
        s += v(k);
      };
    }
    ctx.host_launch(t.reduce(reducer::sum()))->*[](scalar_view<int> s) { *s += 1000; };
    // A loop that reduces replaces what is there.
    ctx.parallel_for(stf::box(3), t.reduce(reducer::sum(), stf::no_init()))->*STARLING_KERNEL(index_t, int& s) {
      s += 1;
    };
    const std::string dot = ctx.dot();
    CHECK(dot.find("t6 -> t7") != std::string::npos);
    CHECK(dot.find("t5 -> t7") != std::string::npos);
    CHECK(dot.find("t5 -> t6") == std::string::npos);
    CHECK(dot.find("t1 -> t3") == std::string::npos);
    ctx.finalize();
    CHECK(x == std::vector<int>{3, 5, 7, 9, 3, 5, 7, 9});
    CHECK(total == 3 + 5 + 7 + 9 + 3 + 1000 + 3);
  }
}

}  // namespace
}  // namespace starling::test::task_reduction_tests
