// Functions whose results a context remembers.
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/test_machine.hpp"

namespace starling::test::run_once_tests {
namespace {

using stf::context;
using stf::slice;
using vector_data = stf::logical_data<slice<double>>;

void set_all(stream& s, slice<double> x, double value) {
  s.launch(1, STARLING_KERNEL(block & b) { b.for_each(x.extent(0), [&](index_t i) { x(i) = value; }); });
}
void add_all(stream& s, slice<const double> x, slice<double> to) {
  s.launch(1, STARLING_KERNEL(block & b) { b.for_each(to.extent(0), [&](index_t i) { to(i) += x(i); }); });
}

std::vector<stf::backend_kind> back_ends() {
  return {stf::backend_kind::stream, stf::backend_kind::graph, stf::backend_kind::persistent};
}

TEST_CASE("once for each set of arguments") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends()) {
    context ctx(*m, {.backend = backend});
    int calls = 0;
    const auto table = [&](int n, double value) {
      return ctx.run_once(n, value)->*[&](int size, double v) {
        ++calls;
        auto d = ctx.logical_data(stf::shape_of<slice<double>>(size));
        ctx.task(stf::exec_place::device(size % 2), d.write())->*[v](stream& s, slice<double> x) { set_all(s, x, v); };
        return d;
      };
    };
    for (int round = 0; round < 3; ++round)
      for (const int n : {3, 4})
        for (const double v : {1.0, 2.0}) {
          const auto value = ctx.wait(table(n, v));
          CHECK(value.extent(0) == n);
          CHECK(value(n - 1) == v);
        }
    CHECK(calls == 4);
    CHECK(table(3, 1.0).state() == table(3, 1.0).state());
    ctx.finalize();
  }
}

TEST_CASE("again for data that has been written since") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : back_ends()) {
    context ctx(*m, {.backend = backend});
    std::vector<double> X(10, 1.0), Y(10, 5.0);
    auto x = ctx.logical_data(X);
    auto y = ctx.logical_data(Y);
    int calls = 0;
    const auto doubled = [&](const vector_data& d) {
      return ctx.run_once(d)->*[&](vector_data from) {
        ++calls;
        auto to = ctx.logical_data(from.shape());
        ctx.task(from.read(), to.write())->*[](stream& s, slice<const double> v, slice<double> w) {
          set_all(s, w, 0);
          add_all(s, v, w);
          add_all(s, v, w);
        };
        return to;
      };
    };
    CHECK(ctx.wait(doubled(x))(3) == 2);
    CHECK(ctx.wait(doubled(y))(3) == 10);
    CHECK(ctx.wait(doubled(x))(3) == 2);
    ctx.task(x.read())->*[](stream&, slice<const double>) {};  // reading changes nothing
    CHECK(ctx.wait(doubled(x))(3) == 2);
    CHECK(calls == 2);
    ctx.task(x.rw())->*[](stream& s, slice<double> v) { set_all(s, v, 7); };
    CHECK(ctx.wait(doubled(x))(3) == 14);
    CHECK(ctx.wait(doubled(y))(3) == 10);
    CHECK(calls == 3);
    ctx.task(y.read(), x.reduce(stf::reducer::sum()))->*[](stream& s, slice<const double> v, slice<double> w) {
      add_all(s, v, w);
    };
    CHECK(ctx.wait(doubled(x))(3) == 24);
    CHECK(calls == 4);
    ctx.finalize();
  }
}

TEST_CASE("functions without a result, text and numbers that are no numbers") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  int calls = 0;
  const auto f = [&](const char* text, double x) { ctx.run_once(text, x)->*[&](const char*, double) { ++calls; }; };
  const std::string same = "name";  // elsewhere in memory
  f("name", 1);
  f(same.c_str(), 1);
  CHECK(calls == 1);
  f("other", 1);
  CHECK(calls == 2);
  for (int i = 0; i < 2; ++i) f("name", std::nan(""));
  CHECK(calls == 3);
  f("name", 2);
  CHECK(calls == 4);
  // Another function has results of its own; so has another context.
  ctx.run_once(same)->*[&](const std::string&) { ++calls; };
  CHECK(calls == 5);
  context other(*m);
  const auto g = [&](context& c) { return c.run_once(1)->*[&](int) { return ++calls; }; };
  CHECK(g(ctx) == 6);
  CHECK(g(other) == 7);
  CHECK(g(ctx) == 6);
  ctx.finalize();
}

TEST_CASE("several threads get one result") {
  const auto m = test_machine(2);
  if (!m) return;
  context ctx(*m);
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  std::vector<vector_data> found(8);
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] {
      found[t] = ctx.run_once(int(t % 2))->*[&](int which) {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        auto d = ctx.logical_data(stf::shape_of<slice<double>>(4));
        ctx.task(d.write())->*[which](stream& s, slice<double> x) { set_all(s, x, which + 3); };
        return d;
      };
    });
  for (auto& t : threads) t.join();
  CHECK(calls == 2);
  for (std::size_t t = 0; t < found.size(); ++t) CHECK(ctx.wait(found[t])(0) == double(t % 2 + 3));
  ctx.finalize();
}

// What is there may be used in what is recorded.
TEST_CASE("a result within a recording") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  std::vector<double> X(10, 1.0);
  auto x = ctx.logical_data(X);
  const auto one = [&] {
    return ctx.run_once(3)->*[&](int n) {
      auto d = ctx.logical_data(stf::shape_of<slice<double>>(10));
      ctx.task(d.write())->*[n](stream& s, slice<double> v) { set_all(s, v, n); };
      return d;
    };
  };
  (void)one();
  ctx.repeat(4, [&] {
    ctx.task(one().read(), x.rw())->*[](stream& s, slice<const double> v, slice<double> w) { add_all(s, v, w); };
  });
  ctx.finalize();
  CHECK(X == std::vector<double>(10, 13.0));
}

}  // namespace
}  // namespace starling::test::run_once_tests
