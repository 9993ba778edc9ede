// Bodies that throw: what they should have written has no value and says whose fault that is; the rest is not lost.
#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/stf/back_ends.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_failures_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;
using stf::task_error;

struct odd {};

void fill(stream& s, slice<int> x) { s.fill(x.data_handle(), 1, static_cast<std::size_t>(x.extent(0)) * sizeof(int)); }
constexpr int filled_value = 0x01010101;

// x: read by the task that throws; y: to be written by it; z: of other tasks.
struct three {
  std::vector<int> x = std::vector<int>(5, 10);
  std::vector<int> y = std::vector<int>(5, 20);
  std::vector<int> z = std::vector<int>(5, 30);
};

template <class F>
void with_failure(machine& m, stf::backend_kind backend, three& all, const F& then) {
  context ctx(m, {.backend = backend});
  auto x = ctx.logical_data(all.x).set_symbol("x");
  auto y = ctx.logical_data(all.y).set_symbol("y");
  auto z = ctx.logical_data(all.z).set_symbol("z");
  ctx.task(x.rw())->*fill;
  ctx.task(z.rw())->*fill;
  CHECK_THROWS_AS((ctx.task(exec_place::device(1), x.read(), y.rw()).set_symbol("broken")->*
                   [](stream&, slice<const int>, slice<int>) { throw odd(); }),
                  odd);
  then(ctx, x, y);
}

TEST_CASE("what a body that threw should have written has no value") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    three all;
    with_failure(m, backend, all, [](context& ctx, auto& x, auto& y) {
      for (int i = 0; i < 2; ++i) {
        check_parts(failure_of<task_error>([&] { ctx.task(y.rw()).set_symbol("reader")->*nothing; }),
                    {"task 'reader'", "'y'", "task 'broken'", "no value"});
        check_parts(failure_of<task_error>([&] { (void)ctx.wait(y); }), {"'y'", "'broken'"});
        check_parts(failure_of<task_error>([&] { ctx.host_launch(y.read())->*[](slice<const int>) {}; }), {"'y'"});
      }
      CHECK(ctx.wait(x)(0) == filled_value);
      check_parts(failure_of<task_error>([&] { ctx.finalize(); }), {"'y'", "not written back", "'broken'"});
    });
    CHECK(all.x == std::vector<int>(5, filled_value));
    CHECK(all.y == std::vector<int>(5, 20));
    CHECK(all.z == std::vector<int>(5, filled_value));
    check_usable(m);
  }
}

TEST_CASE("another task writes it, and all is well") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    three all;
    with_failure(m, backend, all, [](context& ctx, auto&, auto& y) {
      ctx.task(y.write())->*fill;
      ctx.task(exec_place::device(1), y.rw())->*nothing;
      ctx.finalize();
    });
    CHECK(all.y == std::vector<int>(5, filled_value));
    check_usable(m);
  }
}

TEST_CASE("handles that go before anybody has asked") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    three all;
    with_failure(m, backend, all, [](context& ctx, auto& x, auto& y) {
      x = {};
      y = {};
      check_parts(failure_of<task_error>([&] { ctx.finalize(); }), {"'y'", "not written back", "'broken'"});
      ctx.finalize();
    });
    CHECK(all.x == std::vector<int>(5, filled_value));
    CHECK(all.y == std::vector<int>(5, 20));
    check_usable(m);
  }
}

// What has no value is no reason to move bytes, and makes room.
TEST_CASE("a value that is none gives way without a copy") {
  machine m = machine::host(1);
  context ctx(m, {.device_memory = 512});
  auto a = ctx.logical_data(stf::shape_of<slice<int>>(128));
  auto b = ctx.logical_data(stf::shape_of<slice<int>>(128));
  CHECK_THROWS_AS((ctx.task(a.write())->*[](stream&, slice<int>) { throw odd(); }), odd);
  ctx.task(b.write())->*fill;
  CHECK(ctx.statistics().evictions == 0);
  CHECK(ctx.statistics().copies == 0);
  CHECK_THROWS_AS((ctx.task(a.rw())->*nothing), task_error);
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("an exception in a body that runs on the host") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    three all;
    {
      context ctx(m, {.backend = backend});
      auto x = ctx.logical_data(all.x);
      ctx.host_launch(x.rw())->*[](slice<int>) { throw argument_error("the host's own"); };
      check_parts(failure_of<argument_error>([&] { ctx.synchronize(); }), {"the host's own"});
      // The context goes on.
      ctx.task(x.write())->*fill;
      ctx.finalize();
    }
    CHECK(all.x == std::vector<int>(5, filled_value));
    {
      context ctx(m, {.backend = backend});
      auto y = ctx.logical_data(all.y);
      ctx.parallel_for(exec_place::host(), y.shape(), y.rw())->*[](index_t i, slice<int>) {
        if (i == 3) throw range_error("element 3");
      };
      check_parts(failure_of<range_error>([&] { ctx.finalize(); }), {"element 3"});
      ctx.finalize();
    }
    check_usable(m);
  }
}

TEST_CASE("an exception in a kernel of a task") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(100, 1);
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(x);
    ctx.parallel_for(d.shape(), d.rw())->*[](index_t i, slice<int>) {
      if (i == 77) throw range_error("element 77");
    };
    check_parts(failure_of<range_error>([&] { ctx.finalize(); }), {"element 77"});
    check_usable(m);
  }
}

}  // namespace
}  // namespace starling::test::stf_failures_tests
