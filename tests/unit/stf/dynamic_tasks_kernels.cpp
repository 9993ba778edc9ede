// Tasks whose dependencies are counted at run time, and tasks that are begun and ended by hand.
#include <numeric>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/test_machine.hpp"

namespace starling::test::dynamic_tasks_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;

void add(stream& s, slice<const double> x, slice<double> to) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(to.extent(0)), [&](index_t i) { to(i) += x(i); }); });
}

std::vector<stf::backend_kind> back_ends() {
  return {stf::backend_kind::stream, stf::backend_kind::graph, stf::backend_kind::automatic};
}

// How many terms there are the compiler does not know.
TEST_CASE("a sum of any number of data") {
  for (int n_pes = 1; n_pes <= 4; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : back_ends()) {
      for (const int terms : {0, 1, 2, 7}) {
        context ctx(*m, {.backend = backend});
        std::vector<double> total(50, 1.0);
        std::vector<std::vector<double>> X;
        for (int i = 0; i < terms; ++i) X.emplace_back(50, i + 2.0);
        auto sum = ctx.logical_data(total);
        std::vector<stf::logical_data<slice<double>>> x;
        for (auto& each : X) x.push_back(ctx.logical_data(each));
        auto t = ctx.task(exec_place::device(n_pes - 1));
        t.add(sum.rw());
        for (const auto& each : x) t.add(each.read());
        CHECK(t.size() == static_cast<std::size_t>(terms) + 1);
        t->*[&](stream& s, const stf::dynamic_task& task) {
          for (int i = 0; i < terms; ++i)
            add(s, task.get<slice<const double>>(static_cast<std::size_t>(i) + 1), task.get<slice<double>>(0));
        };
        ctx.finalize();
        double wanted = 1;
        for (int i = 0; i < terms; ++i) wanted += i + 2;
        CHECK(total == std::vector<double>(50, wanted));
      }
    }
  }
}

TEST_CASE("views of several types, by number") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  std::vector<int> X(12);
  std::iota(X.begin(), X.end(), 0);
  int largest = 0;
  auto x = ctx.logical_data(slice<int, 2>(X.data(), 3, 4));
  auto best = ctx.logical_data(stf::scalar_view<int>(&largest));
  const auto order = ctx.token();
  ctx.task().add(x.rw()).add(best.write()).add(order.rw()).set_symbol("last")->*
      [](stream& s, const stf::dynamic_task& t) {
        const auto v = t.get<slice<int, 2>>(0);
        const auto same = t.get<slice<const int, 2>>(0);  // who writes may take it for reading
        CHECK(same.data_handle() == v.data_handle());
        CHECK(reinterpret_cast<std::byte*>(v.data_handle()) == t.memory(0));
        const auto out = t.get<stf::scalar_view<int>>(1);
        s.launch(1, STARLING_KERNEL(block & b) { b.for_each(1, [&](index_t) { *out = v(2, 3); }); });
      };
  ctx.finalize();
  CHECK(largest == 11);
}

TEST_CASE("sums that tasks add to, and tasks without dependencies") {
  const auto m = test_machine(2);
  if (!m) return;
  context ctx(*m);
  std::vector<double> total(20, 0.5);
  std::vector<double> ones(20, 1.0);
  auto sum = ctx.logical_data(total);
  const auto one = ctx.logical_data(ones);
  for (int i = 0; i < 6; ++i)
    ctx.task(exec_place::device(i % 2)).add(one.read()).add(sum.reduce(stf::reducer::sum()))
            ->*
        [](stream& s, const stf::dynamic_task& t) { add(s, t.get<slice<const double>>(0), t.get<slice<double>>(1)); };
  bool called = false;
  ctx.task()->*[&](stream&) { called = true; };
  CHECK(called);
  ctx.finalize();
  CHECK(total == std::vector<double>(20, 6.5));
}

TEST_CASE("a task over a grid") {
  const auto m = test_machine(2);
  if (!m) return;
  context ctx(*m);
  std::vector<double> values(64, 1.0);
  auto d = ctx.logical_data(values);
  int places = 0;
  ctx.task(exec_place::all_devices()).add(d.rw())->*[&](stf::task_run& run, const stf::dynamic_task& t) {
    places = run.places();
    const auto v = t.get<slice<double>>(0);
    for (int p = 0; p < places; ++p)
      run.stream(p).launch(1, STARLING_KERNEL(block & b) { b.for_each(32, [&](index_t i) { v(32 * p + i) += 1; }); });
  };
  CHECK(places == 2);
  ctx.finalize();
  CHECK(values == std::vector<double>(64, 2.0));
}

TEST_CASE("begun and ended by hand") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends()) {
    context ctx(*m, {.backend = backend});
    std::vector<double> X(30, 1.0), Y(30, 2.0);
    auto x = ctx.logical_data(X);
    auto y = ctx.logical_data(Y);
    for (int round = 0; round < 3; ++round) {
      auto t = ctx.task(exec_place::device(round % 2));
      t.add(x.read()).add(y.rw()).set_symbol("by hand");
      t.begin();
      // It may travel while it is open.
      stf::dynamic_task moved = std::move(t);
      add(moved.stream(), moved.get<slice<const double>>(0), moved.get<slice<double>>(1));
      moved.end();
    }
    ctx.finalize();
    CHECK(Y == std::vector<double>(30, 5.0));
  }
}

TEST_CASE("in a stream of the user") {
  const auto m = test_machine(2);
  if (!m) return;
  machine on = *m;
  for (const auto backend : back_ends()) {
    context ctx(*m, {.backend = backend});
    stream mine = on.new_stream(1);
    std::vector<double> X(30, 1.0), Y(30, 2.0);
    auto x = ctx.logical_data(X);
    auto y = ctx.logical_data(Y);
    for (int round = 0; round < 4; ++round) {
      ctx.task(x.rw())->*[](stream& s, slice<double> v) { add(s, v, v); };  // 2, 4, 8, 16
      auto t = ctx.task(exec_place::device(1));
      t.add(x.read()).add(y.rw());
      t.begin(mine);
      CHECK(&t.stream().impl() == &mine.impl());
      add(mine, t.get<slice<const double>>(0), t.get<slice<double>>(1));
      t.end();
    }
    ctx.finalize();
    CHECK(Y == std::vector<double>(30, 32.0));
  }
}

TEST_CASE("recorded") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  std::vector<double> X(10, 1.0), Y(10, 0.0);
  auto x = ctx.logical_data(X);
  auto y = ctx.logical_data(Y);
  ctx.repeat(5, [&] {
    ctx.task().add(x.read()).add(y.rw())->*
        [](stream& s, const stf::dynamic_task& t) { add(s, t.get<slice<const double>>(0), t.get<slice<double>>(1)); };
  });
  ctx.finalize();
  CHECK(Y == std::vector<double>(10, 5.0));
}

}  // namespace
}  // namespace starling::test::dynamic_tasks_tests
