// What tasks mean: order by accesses, places, data without memory, tokens, work of the host, several threads.
#include <atomic>
#include <numeric>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::tasks_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

// y = a y + b x
void axpby(stream& s, double b, slice<const double> x, double a, slice<double> y) {
  s.launch(
      4, STARLING_KERNEL(block & blk) {
        blk.for_each(blk.my_share(y.extent(0)), [&](index_t i) { y(i) = a * y(i) + b * x(i); });
      });
}

void scale(stream& s, double a, slice<double> x) {
  s.launch(4, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) *= a; }); });
}

void set_all(stream& s, slice<double> x, double value) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) = value; }); });
}

std::vector<stf::backend_kind> back_ends() { return {stf::backend_kind::stream, stf::backend_kind::graph}; }

// Algorithm 1 and figure 2 of the paper.
TEST_CASE("a sequence of interdependent tasks") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends()) {
    random r(1);
    std::vector<double> X(1000), Y(1000), Z(1000);
    for (auto* v : {&X, &Y, &Z})
      for (double& x : *v) x = r.real();
    std::vector<double> x = X, y = Y, z = Z;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = 2 * x[i];
      y[i] = y[i] + x[i];
      z[i] = z[i] + x[i];
      z[i] = z[i] + y[i];
    }
    context ctx(*m, {.backend = backend});
    auto lX = ctx.logical_data(X);
    auto lY = ctx.logical_data(Y);
    auto lZ = ctx.logical_data(Z);
    ctx.task(lX.rw())->*[](stream& s, slice<double> dX) { scale(s, 2, dX); };
    ctx.task(lX.read(), lY.rw())->*[](stream& s, auto dX, auto dY) { axpby(s, 1, dX, 1, dY); };
    ctx.task(exec_place::device(1), lX.read(), lZ.rw())->*[](stream& s, auto dX, auto dZ) { axpby(s, 1, dX, 1, dZ); };
    ctx.task(lY.read(), lZ.rw(data_place::device(1)))->*[](stream& s, auto dY, auto dZ) { axpby(s, 1, dY, 1, dZ); };
    ctx.finalize();
    CHECK(X == x);
    CHECK(Y == y);
    CHECK(Z == z);
  }
}

TEST_CASE("data without memory lives between tasks") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends()) {
    std::vector<double> out(77, -1.0);
    context ctx(*m, {.backend = backend});
    auto result = ctx.logical_data(out);
    {
      auto temporary = ctx.logical_data(stf::shape_of<slice<double>>(77));
      ctx.task(exec_place::device(1), temporary.write())->*[](stream& s, slice<double> t) { set_all(s, t, 5); };
      ctx.task(temporary.read(), result.write())->*[](stream& s, auto t, auto o) {
        set_all(s, o, 0);
        axpby(s, 2, t, 1, o);
      };
    }
    ctx.finalize();
    CHECK(out == std::vector<double>(77, 10.0));
  }
}

TEST_CASE("data that is destroyed goes back to the user") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : back_ends()) {
    std::vector<double> out(100, 1.0);
    context ctx(*m, {.backend = backend});
    {
      auto d = ctx.logical_data(out);
      ctx.task(d.rw())->*[](stream& s, auto x) { scale(s, 3, x); };
    }
    ctx.finalize();
    CHECK(out == std::vector<double>(100, 3.0));
  }
}

TEST_CASE("rows that are apart") {
  const auto m = test_machine(1);
  if (!m) return;
  std::vector<double> all(60);
  std::iota(all.begin(), all.end(), 0.0);
  // Rows 1 to 3, columns 2 to 5 of 6 by 10.
  const strided_view<double, 2> part(all.data() + 12,
                                     {starling::view_extents<2>(3, 4), cuda::std::array<index_t, 2>{10, 1}});
  context ctx(*m);
  auto d = ctx.logical_data(part);
  ctx.task(d.rw())->*[](stream& s, slice<double, 2> x) {
    s.launch(
        2, STARLING_KERNEL(block & b) {
          b.for_each(b.my_share(x.extent(0)), index_range{0, x.extent(1)},
                     [&](index_t i, index_t j) { x(i, j) = -x(i, j) - static_cast<double>(100 * i); });
        });
  };
  ctx.host_launch(d.read())->*[](slice<const double, 2> x) {
    if (x(2, 3) != -235) throw argument_error("the host sees other values");
  };
  ctx.finalize();
  for (int i = 0; i < 60; ++i) {
    const bool inside = i / 10 >= 1 && i / 10 < 4 && i % 10 >= 2 && i % 10 < 6;
    CHECK(all[static_cast<std::size_t>(i)] == (inside ? -i - 100 * (i / 10 - 1) : i));
  }
}

// The sum of all that may only be read: a vector, an array, rows that are apart, one element, and a part of it.
TEST_CASE("data of const elements is read where it is wanted, and stays as it is") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends()) {
    random r(2);
    std::vector<double> values(40), rows(40);
    for (double& x : values) x = r.real();
    for (double& x : rows) x = r.real();
    const std::vector<double> vector = values;
    const double array[3] = {1, 2, 3};
    const double one = 7;
    const strided_view<const double, 2> apart(rows.data(),
                                              {starling::view_extents<2>(4, 5), cuda::std::array<index_t, 2>{10, 1}});
    std::vector<double> out(2, -1.0);
    context ctx(*m, {.backend = backend});
    auto lv = ctx.logical_data(vector);
    auto la = ctx.logical_data(array);
    auto lr = ctx.logical_data(apart);
    auto lo = ctx.logical_data(stf::scalar_view<const double>(&one));
    auto result = ctx.logical_data(out);
    for (int d = 0; d < m->size(); ++d)
      ctx.task(exec_place::device(d), lv.read(), la.read(), lr.read(), lo.read(), result.rw())
              ->*[d](stream& s, slice<const double> v, slice<const double> a, slice<const double, 2> two,
                     stf::scalar_view<const double> x, slice<double> sums) {
                    s.launch(
                        1, STARLING_KERNEL(block & b) {
                          b.for_each(index_range{d, d + 1}, [&](index_t i) {
                            sums(i) = 0;
                            for (index_t k = 0; k < v.extent(0); ++k) sums(i) += v(k);
                            for (index_t k = 0; k < a.extent(0); ++k) sums(i) += a(k);
                            for (index_t k = 0; k < two.extent(0); ++k)
                              for (index_t l = 0; l < two.extent(1); ++l) sums(i) += two(k, l);
                            sums(i) += *x;
                          });
                        });
                  };
    auto parts = ctx.split(lv, 4);
    index_t found = -1;
    ctx.host_launch(parts[1].read())->*[&](slice<const double> v) {
      found = v.extent(0) == 10 && v(9) == vector[19] ? 1 : 0;
    };
    ctx.join(parts);
    CHECK(ctx.wait(lv)(3) == values[3]);
    ctx.finalize();
    double sum = 0;
    for (const double x : values) sum += x;
    for (const double x : array) sum += x;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t l = 0; l < 5; ++l) sum += rows[10 * k + l];
    sum += one;
    for (int d = 0; d < m->size(); ++d) CHECK(out[static_cast<std::size_t>(d)] == sum);
    CHECK(found == 1);
    CHECK(vector == values);
    CHECK(one == 7);
  }
}

TEST_CASE("work of the host, and values that the host waits for") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : back_ends()) {
    std::vector<double> x(10, 2.0);
    std::vector<double> seen;
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(x);
    ctx.task(d.rw())->*[](stream& s, auto v) { scale(s, 4, v); };
    ctx.host_launch(d.read())->*
        [&seen](slice<const double> v) { seen.assign(v.data_handle(), v.data_handle() + v.extent(0)); };
    ctx.host_launch(d.rw())->*[](slice<double> v) { v(0) = 1; };
    ctx.task(d.rw())->*[](stream& s, auto v) { scale(s, 10, v); };
    const slice<const double> now = ctx.wait(d);
    CHECK(now(0) == 10);
    CHECK(now(9) == 80);
    CHECK(seen == std::vector<double>(10, 8.0));
    ctx.finalize();
    CHECK(x[0] == 10);
  }
}

TEST_CASE("a scalar that the host waits for is a value of its own") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : back_ends()) {
    double x = 2;
    double first = 0;
    double after = 0;
    {
      context ctx(*m, {.backend = backend});
      auto d = ctx.logical_data(stf::scalar_view<double>(&x));
      auto constant = ctx.logical_data(stf::scalar_view<const double>(&first));
      auto made = ctx.logical_data(stf::shape_of<stf::scalar_view<double>>());
      ctx.task(d.read(), made.write())->*[](stream& s, auto from, auto to) { s.copy(to.get(), from.get(), sizeof x); };
      auto now = ctx.wait(made);
      static_assert(std::is_same_v<decltype(now), double>);
      static_assert(std::is_same_v<decltype(ctx.wait(constant)), double>);
      // Neither what tasks write later nor the end of the data changes it.
      ctx.host_launch(made.rw())->*[](stf::scalar_view<double> v) { *v = 7; };
      ctx.host_launch(d.rw())->*[](stf::scalar_view<double> v) { *v = 8; };
      const double second = ctx.wait(made);
      ctx.finalize();
      made = {};
      CHECK(now == 2);
      CHECK(second == 7);
      after = now + second;
    }
    CHECK(after == 9);
    CHECK(x == 8);
  }
}

TEST_CASE("tokens order tasks") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends()) {
    std::atomic<int> step{0};
    std::atomic<int> wrong{0};
    context ctx(*m, {.backend = backend});
    auto t = ctx.token();
    const auto expect_step = [&](int wanted) {
      return [&, wanted]() {
        if (step.fetch_add(1) != wanted) ++wrong;
      };
    };
    for (int i = 0; i < 6; ++i) ctx.host_launch(t.rw())->*expect_step(i);
    ctx.finalize();
    CHECK(step == 6);
    CHECK(wrong == 0);
  }
}

TEST_CASE("several threads submit") {
  const auto m = test_machine(2);
  if (!m) return;
  constexpr int threads = 4;
  constexpr int rounds = 25;
  for (const auto backend : back_ends()) {
    std::vector<double> shared(50, 0.0);
    std::vector<std::vector<double>> own(threads, std::vector<double>(50, 1.0));
    context ctx(*m, {.backend = backend});
    auto all = ctx.logical_data(shared);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        auto mine = ctx.logical_data(own[static_cast<std::size_t>(t)]);
        for (int i = 0; i < rounds; ++i) {
          ctx.task(exec_place::device((t + i) % 2), mine.rw())->*[](stream& s, auto x) { scale(s, 1, x); };
          ctx.task(exec_place::device(t % 2), mine.read(), all.rw())->*[](stream& s, auto x, auto sum) {
            axpby(s, 1, x, 1, sum);
          };
        }
      });
    for (auto& t : running) t.join();
    ctx.finalize();
    CHECK(shared == std::vector<double>(50, static_cast<double>(threads * rounds)));
  }
}

TEST_CASE("graphs of equal epochs are updated") {
  const auto m = test_machine(1);
  if (!m) return;
  std::vector<double> x(64, 1.0);
  context ctx(*m, {.backend = stf::backend_kind::graph});
  auto d = ctx.logical_data(x);
  for (int i = 0; i < 10; ++i) {
    ctx.task(d.rw())->*[](stream& s, auto v) { scale(s, 2, v); };
    ctx.task(d.rw())->*[](stream& s, auto v) { scale(s, 1, v); };
    ctx.fence();
  }
  ctx.finalize();
  CHECK(x == std::vector<double>(64, 1024.0));
  // The first has a copy to the device, the last one a copy back.
  CHECK(ctx.statistics().epochs == 11);
  CHECK(ctx.statistics().graphs_reused == 8);
}

// A function that uses a context of its own may be called anywhere on the host.
TEST_CASE("contexts within tasks") {
  const auto m = test_machine(1);
  if (!m) return;
  std::vector<double> x(20, 1.0);
  std::vector<double> y(20, 1.0);
  context outer(*m);
  auto d = outer.logical_data(x);
  outer.task(d.rw())->*[&](stream& s, slice<double> v) {
    stf::graph_ctx inner(*m);
    auto e = inner.logical_data(y);
    inner.task(e.rw())->*[](stream& t, auto w) { scale(t, 6, w); };
    inner.finalize();
    scale(s, y[0], v);
  };
  outer.finalize();
  CHECK(x == std::vector<double>(20, 6.0));
}

TEST_CASE("drawings show who waits for whom") {
  const auto m = test_machine(1);
  if (!m) return;
  std::vector<double> x(8, 1.0), y(8, 1.0);
  context ctx(*m, {.drawing = true});
  auto a = ctx.logical_data(x).set_symbol("a");
  auto b = ctx.logical_data(y).set_symbol("b");
  ctx.task(a.rw()).set_symbol("first")->*[](stream& s, auto v) { scale(s, 2, v); };
  ctx.task(a.read(), b.rw()).set_symbol("second")->*[](stream& s, auto v, auto w) { axpby(s, 1, v, 1, w); };
  ctx.task(a.rw()).set_symbol("third")->*[](stream& s, auto v) { scale(s, 2, v); };
  ctx.finalize();
  const std::string dot = ctx.dot();
  for (const char* line : {"t1 [label=\"first\\ndevice 0\"]", "t1 -> t2 [label=\"a\"]", "t2 -> t3 [label=\"a\"]"}) {
    CAPTURE(line);
    CHECK(dot.find(line) != std::string::npos);
  }
  CHECK(dot.find("t1 -> t3") == std::string::npos);
  CHECK(ctx.mermaid().find("t1 -->|\"a\"| t2") != std::string::npos);
}

TEST_CASE("bodies of all kinds have no parameter for a token") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends()) {
    context ctx(*m, {.backend = backend});
    std::vector<double> X(40, 1.0);
    double total = 0;
    auto x = ctx.logical_data(X);
    auto sum = ctx.logical_data(stf::scalar_view<double>(&total));
    auto t = ctx.token();
    auto u = ctx.token();
    ctx.task(t.rw(), x.rw(), u.read())->*[](stream& s, slice<double> v) { scale(s, 2, v); };
    ctx.task(exec_place::all_devices(), t.rw(), x.rw())->*[](stf::task_run& run, slice<double> v) {
      scale(run.stream(), 2, v);
    };
    ctx.parallel_for(exec_place::all_devices(), x.shape(), u.rw(), x.rw(), t.rw())
            ->*STARLING_KERNEL(index_t i, slice<double> v) {
      v(i) += 1;
    };
    ctx.launch(t.rw(), x.rw())->*STARLING_KERNEL(stf::default_hierarchy th, slice<double> v) {
      for (auto [i] : th.apply_partition(stf::shape(v))) v(i) += 1;
    };
    ctx.parallel_for(x.shape(), x.read(), t.read(), sum.reduce(stf::reducer::sum()))
            ->*STARLING_KERNEL(index_t i, slice<const double> v, double& s) {
      s += v(i);
    };
    bool right = false;
    ctx.host_launch(t.rw(), sum.read(), u.read())->*[&](stf::scalar_view<const double> s) { right = *s == 240; };
    ctx.finalize();
    CHECK(right);
    CHECK(total == 240);
  }
}

}  // namespace
}  // namespace starling::test::tasks_tests
