// Recordings of tasks and loops of them that cannot be: refused, and all data is as before.
#include <chrono>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_recorded_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::recorded_tasks;
using stf::scalar_view;
using stf::slice;
using stf::task_error;

constexpr backend_kind back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::automatic};
constexpr int filled_value = 0x01010101;

void fill(stream& s, slice<int> x) { s.fill(x.data_handle(), 1, static_cast<std::size_t>(x.extent(0)) * sizeof(int)); }

struct odd {};

// x, y and the flag keep their values through all that is tried; afterwards the context works.
template <class F>
void try_in_all(const F& f) {
  for (const auto backend : back_ends) {
    machine m = machine::host(2);
    std::vector<int> x(8, 5);
    std::vector<int> y(8, 6);
    int flag = 7;
    {
      context ctx(m, {.backend = backend});
      auto a = ctx.logical_data(x).set_symbol("x");
      auto b = ctx.logical_data(y).set_symbol("y");
      auto again = ctx.logical_data(scalar_view<int>(&flag)).set_symbol("flag");
      f(ctx, a, b, again);
      CHECK(ctx.wait(a)(3) == 5);
      CHECK(ctx.wait(b)(3) == 6);
      CHECK(ctx.wait(again) == 7);
      ctx.repeat(3, [&] { ctx.task(exec_place::device(1), a.rw())->*fill; });
      ctx.finalize();
    }
    CHECK(x == std::vector<int>(8, filled_value));
    CHECK(y == std::vector<int>(8, 6));
    CHECK(flag == 7);
    check_usable(m);
  }
}

TEST_CASE("a body that throws") {
  try_in_all([](context& ctx, auto& a, auto& b, auto& again) {
    CHECK_THROWS_AS((void)ctx.record([&] {
      ctx.task(a.rw())->*fill;
      ctx.task(exec_place::device(1), b.rw())->*fill;
      throw odd();
    }),
                    odd);
    CHECK_THROWS_AS(ctx.repeat(5, [] { throw odd(); }), odd);
    CHECK_THROWS_AS(ctx.repeat_while(again, [] { throw odd(); }, 3), odd);
  });
}

TEST_CASE("a task that throws, also when the body goes on") {
  try_in_all([](context& ctx, auto& a, auto& b, auto&) {
    const auto broken = [&] {
      ctx.task(a.read(), b.rw()).set_symbol("broken")->*[](stream&, slice<const int>, slice<int>) { throw odd(); };
    };
    CHECK_THROWS_AS((void)ctx.record(broken), odd);
    check_parts(failure_of<task_error>([&] {
                  (void)ctx.record([&] {
                    CHECK_THROWS_AS(broken(), odd);
                    ctx.task(a.rw())->*fill;
                  });
                }),
                {"context::record", "task 'broken'", "'y'"});
  });
}

TEST_CASE("calls that wait, within the body") {
  try_in_all([](context& ctx, auto& a, auto&, auto&) {
    (void)ctx.record([&] {
      const std::string say = "within a body whose tasks are recorded";
      check_parts(failure_of<argument_error>([&] { ctx.fence(); }), {"fence", say});
      check_parts(failure_of<argument_error>([&] { ctx.synchronize(); }), {"synchronize", say});
      check_parts(failure_of<argument_error>([&] { ctx.finalize(); }), {"finalize", say});
      check_parts(failure_of<argument_error>([&] { (void)ctx.wait(a); }), {"wait", say});
    });
  });
}

TEST_CASE("recordings within tasks") {
  try_in_all([](context& ctx, auto& a, auto&, auto& again) {
    const recorded_tasks other = ctx.record([] {});
    ctx.task(a.rw())->*[&](stream&, slice<int>) {
      const std::string say = "within the body of a task";
      check_parts(failure_of<argument_error>([&] { (void)ctx.record([] {}); }), {"record", say});
      check_parts(failure_of<argument_error>([&] { ctx.repeat(2, [] {}); }), {"repeat", say});
      check_parts(failure_of<argument_error>([&] { ctx.repeat_while(again, [] {}, 1); }), {"repeat_while", say});
      check_parts(failure_of<argument_error>([&] { ctx.run_if(again, [] {}); }), {"run_if", say});
      check_parts(failure_of<argument_error>([&] { other.launch(); }), {"launch", say});
    };
  });
}

TEST_CASE("nothing to record, nothing recorded, no rounds") {
  try_in_all([](context& ctx, auto&, auto&, auto& again) {
    check_parts(failure_of<argument_error>([&] { (void)ctx.record(nullptr); }), {"record", "empty"});
    check_parts(failure_of<argument_error>([&] { ctx.repeat(2, nullptr); }), {"repeat", "empty"});
    check_parts(failure_of<argument_error>([&] { ctx.repeat_while(again, [] {}, 0); }), {"at most 0 rounds"});
    check_parts(failure_of<argument_error>([&] { ctx.run_if(again, nullptr); }), {"record", "empty"});
    const recorded_tasks none;
    check_parts(failure_of<argument_error>([&] { none.launch(); }), {"nothing is recorded"});
    check_parts(failure_of<argument_error>([&] { (void)none.operations(); }), {"nothing is recorded"});
  });
}

TEST_CASE("flags of nobody, of another context, and flags that the body does not write") {
  try_in_all([](context& ctx, auto& a, auto&, auto& again) {
    machine m = machine::host(1);
    context elsewhere(m);
    int value = 1;
    auto foreign = elsewhere.logical_data(scalar_view<int>(&value));
    const auto body = [&] { ctx.task(a.rw())->*nothing; };
    check_parts(failure_of<argument_error>([&] { ctx.repeat_while(foreign, body, 3); }), {"another context"});
    const stf::logical_data<scalar_view<int>> none;
    check_parts(failure_of<argument_error>([&] { ctx.repeat_while(none, body, 3); }), {"or none"});
    check_parts(failure_of<argument_error>([&] { ctx.run_if(foreign, body); }), {"run_if", "another context"});
    check_parts(failure_of<argument_error>([&] { ctx.repeat_while(again, body, 3); }), {"'flag'", "no task", "write"});
    check_parts(failure_of<argument_error>([&] {
                  ctx.repeat_while(again, [&] { ctx.task(again.read())->*[](stream&, scalar_view<const int>) {}; }, 3);
                }),
                {"'flag'", "no task"});
  });
}

TEST_CASE("data without a value, and data that ends up with another one each time") {
  try_in_all([](context& ctx, auto& a, auto& b, auto&) {
    auto none = ctx.logical_data(stf::shape_of<slice<int>>(8)).set_symbol("none");
    check_parts(failure_of<argument_error>([&] { (void)ctx.record([&] { ctx.task(none.rw())->*nothing; }); }),
                {"'none'", "nothing has been written"});
    // Of the user's memory, and still there.
    std::vector<int> z(4, 1);
    stf::logical_data<slice<int>> kept;
    check_parts(failure_of<argument_error>([&] {
                  (void)ctx.record([&] {
                    kept = ctx.logical_data(z).set_symbol("kept");
                    ctx.task(kept.rw())->*fill;
                  });
                }),
                {"'kept'", "user's memory", "make it before"});
    CHECK(ctx.wait(kept)(0) == 1);
    // A value that was there when they were recorded, but not when they are launched.
    const recorded_tasks r = ctx.record([&] { ctx.task(a.read(), b.rw())->*[](stream&, auto, auto) {}; });
    auto late = ctx.logical_data(stf::shape_of<slice<int>>(8)).set_symbol("late");
    ctx.task(late.write())->*fill;
    const recorded_tasks reads_late = ctx.record([&] { ctx.task(late.rw())->*fill; });
    CHECK_THROWS_AS((ctx.task(late.rw()).set_symbol("broken")->*[](stream&, slice<int>) { throw odd(); }), odd);
    check_parts(failure_of<task_error>([&] { reads_late.launch(); }), {"'late'", "task 'broken'", "launch"});
    r.launch();
    ctx.task(late.write())->*fill;
    reads_late.launch(2);
    CHECK(ctx.wait(late)(7) == filled_value);
  });
}

TEST_CASE("flags without a value, in branches") {
  try_in_all([](context& ctx, auto& a, auto&, auto&) {
    auto flag = ctx.logical_data(stf::shape_of<scalar_view<int>>()).set_symbol("unset");
    const auto body = [&] { ctx.task(a.rw())->*fill; };
    check_parts(failure_of<argument_error>([&] { ctx.run_if(flag, body); }), {"'unset'"});
    check_parts(failure_of<argument_error>([&] { (void)ctx.record([&] { ctx.run_if(flag, body); }); }),
                {"run_if", "'unset'", "nothing has been written"});
  });
}

// Whatever the body does after the failure, and whether it goes on or not.
TEST_CASE("bodies and tasks that throw within scopes within scopes") {
  try_in_all([](context& ctx, auto& a, auto& b, auto& again) {
    const auto broken = [&] {
      ctx.task(a.read(), b.rw()).set_symbol("broken")->*[](stream&, slice<const int>, slice<int>) { throw odd(); };
    };
    const auto set = [&] { ctx.task(again.write())->*[](stream& s, scalar_view<int> f) { s.fill(&*f, 1, 4); }; };
    CHECK_THROWS_AS((void)ctx.record([&] {
      ctx.task(a.rw())->*fill;
      set();
      ctx.run_if(again, [&] {
        ctx.task(exec_place::device(1), a.rw())->*fill;
        ctx.repeat_while(again, [] { throw odd(); }, 3);
      });
    }),
                    odd);
    // The part that is over when a recording within begins.
    check_parts(failure_of<task_error>([&] {
                  (void)ctx.record([&] {
                    CHECK_THROWS_AS(broken(), odd);
                    CHECK_THROWS_AS((void)ctx.record([&] { ctx.task(a.rw())->*fill; }), task_error);
                    ctx.task(a.rw())->*fill;
                  });
                }),
                {"task 'broken'", "'y'"});
    // A recording that failed within one that goes on is no part of it.
    const recorded_tasks r = ctx.record([&] {
      CHECK_THROWS_AS((void)ctx.record([&] {
        ctx.task(b.rw())->*fill;
        throw odd();
      }),
                      odd);
      CHECK_THROWS_AS(ctx.repeat_while(again, [&] { ctx.task(b.rw())->*fill; }, 2), argument_error);
      ctx.task(a.rw())->*nothing;
    });
    r.launch(2);
  });
}

TEST_CASE("memory that does not suffice while tasks are recorded") {
  machine m = machine::host(1);
  for (const auto backend : back_ends) {
    std::vector<std::vector<int>> x(3, std::vector<int>(192, 2));
    context ctx(m, {.backend = backend, .device_memory = 2 * 768});
    std::vector<stf::logical_data<slice<int>>> d;
    for (auto& v : x) d.push_back(ctx.logical_data(v));
    CHECK_THROWS_AS((void)ctx.record([&] {
      for (auto& one : d) ctx.task(one.rw())->*fill;
    }),
                    memory_error);
    for (auto& one : d) ctx.task(one.rw())->*fill;
    ctx.finalize();
    for (const auto& v : x) CHECK(v == std::vector<int>(192, filled_value));
    check_usable(m);
  }
}

TEST_CASE("after finalize") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> x(4, 1);
  auto a = ctx.logical_data(x);
  const recorded_tasks r = ctx.record([&] { ctx.task(a.rw())->*fill; });
  ctx.finalize();
  check_parts(failure_of<argument_error>([&] { r.launch(); }), {"finalized"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.record([] {}); }), {"finalized", "new context"});
  check_parts(failure_of<argument_error>([&] { ctx.repeat(3, [] {}); }), {"finalized"});
  CHECK(x == std::vector<int>(4, 1));
}

TEST_CASE("a body that keeps other threads waiting for too long") {
  const environment_guard deadline("STARLING_DEADLINE", "0.2");
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> x(4, 1);
  auto a = ctx.logical_data(x);
  (void)ctx.record([&] {
    ctx.task(a.rw())->*fill;
    std::thread([&] {
      check_parts(failure_of<task_error>([&] { ctx.task(a.rw())->*nothing; }), {"recording tasks", "0.2 s"});
      check_parts(failure_of<task_error>([&] { ctx.fence(); }), {"recording tasks"});
    }).join();
  });
  ctx.finalize();
  CHECK(x == std::vector<int>(4, 1));
  check_usable(m);
}

TEST_CASE("kernels of a loop that fail") {
  machine m = machine::host(1);
  for (const auto backend : back_ends) {
    context ctx(m, {.backend = backend});
    std::vector<int> x(4, 1);
    auto a = ctx.logical_data(x);
    ctx.repeat(5, [&] { ctx.host_launch(a.rw())->*[](slice<int>) { throw range_error("too far"); }; });
    check_parts(failure_of<range_error>([&] { ctx.synchronize(); }), {"too far"});
    ctx.finalize();
    check_usable(m);
  }
}

}  // namespace
}  // namespace starling::test::stf_recorded_tests
