// Tasks that reduce as they cannot: into data without a value, in use otherwise, with bodies that throw, with too
// little memory.
#include <random>

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_reductions_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::scalar_view;
using stf::slice;
namespace reducer = stf::reducer;

TEST_CASE("data without a value, frozen, split, or named twice") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(4, 1);
    stream s = m.new_stream(0);
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(x).set_symbol("x");
    auto fresh = ctx.logical_data(stf::shape_of<slice<int>>(4)).set_symbol("fresh");
    stf::logical_data<slice<int>> none;
    check_parts(failure_of<argument_error>([&] { ctx.task(fresh.reduce(reducer::sum()))->*nothing; }),
                {"'fresh'", "do_init()"});
    check_parts(failure_of<argument_error>([&] { ctx.task(none.reduce(reducer::sum()))->*nothing; }), {"none"});
    check_parts(failure_of<argument_error>([&] {
                  ctx.task(d.reduce(reducer::sum()), d.read())->*[](stream&, slice<int>, slice<const int>) {};
                }),
                {"'x'", "name it once"});
    check_parts(failure_of<argument_error>([&] {
                  ctx.task(d.reduce(reducer::sum()), d.reduce(reducer::sum()))->*[](stream&, slice<int>, slice<int>) {};
                }),
                {"'x'", "name it once"});
    {
      auto f = ctx.freeze(d.read());
      check_parts(failure_of<argument_error>([&] { ctx.task(d.reduce(reducer::sum()))->*nothing; }), {"'x'", "frozen"});
      f.unfreeze(s);
      auto parts = ctx.split(d, 2);
      check_parts(failure_of<argument_error>([&] { ctx.task(d.reduce(reducer::sum()))->*nothing; }), {"'x'", "split"});
      ctx.task(parts[1].reduce(reducer::sum()))->*increase;
    }
    ctx.task(exec_place::device(1), d.reduce(reducer::sum()))->*increase;
    // Whoever freezes or splits it next sees the sum.
    {
      auto f = ctx.freeze(d.read());
      (void)f.get(s);
      ctx.task(d.read())->*only_read;
    }
    ctx.finalize();
    CHECK(x == std::vector<int>{2, 2, 3, 3});
    check_parts(failure_of<argument_error>([&] { ctx.task(d.reduce(reducer::sum()))->*nothing; }), {"finalized"});
    check_usable(m);
  }
}

// A submission that fails leaves what was added before; a body that throws does not.
TEST_CASE("submissions and bodies that fail") {
  machine m = machine::host(1);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(4, 1), y(4, 1);
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(x).set_symbol("x");
    auto e = ctx.logical_data(y).set_symbol("y");
    auto fresh = ctx.logical_data(stf::shape_of<slice<int>>(4)).set_symbol("fresh");
    ctx.task(d.reduce(reducer::sum()))->*increase;
    const auto refused = [&](auto use) {
      check_parts(failure_of<argument_error>(
                      [&] { ctx.task(use, fresh.read())->*[](stream&, slice<int>, slice<const int>) {}; }),
                  {"'fresh'"});
    };
    refused(d.reduce(reducer::sum()));
    refused(d.reduce(reducer::sum(), stf::do_init()));
    refused(d.write());
    refused(d.reduce(reducer::product()));
    ctx.task(d.reduce(reducer::sum()))->*increase;
    ctx.task(e.reduce(reducer::sum()))->*increase;
    try {
      ctx.task(e.reduce(reducer::sum())).set_symbol("bad")->*
          [](stream&, slice<int>) { throw std::runtime_error("no"); };
    } catch (const std::runtime_error&) {
    }
    check_parts(failure_of<stf::task_error>([&] { ctx.task(e.read())->*only_read; }), {"'y'", "'bad'"});
    check_parts(failure_of<stf::task_error>([&] { ctx.task(e.reduce(reducer::sum()))->*nothing; }), {"'y'", "'bad'"});
    ctx.task(e.reduce(reducer::sum(), stf::do_init()))->*increase;
    ctx.finalize();
    CHECK(x == std::vector<int>(4, 3));
    CHECK(y == std::vector<int>(4, 1));
    check_usable(m);
  }
}

TEST_CASE("little memory for what tasks add") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(64, 1), y(64, 1), z(200);
    context ctx(m, {.backend = backend, .device_memory = 512});
    auto d = ctx.logical_data(x).set_symbol("x");
    auto e = ctx.logical_data(y).set_symbol("y");
    auto large = ctx.logical_data(z).set_symbol("large");
    check_parts(failure_of<memory_error>([&] { ctx.task(large.reduce(reducer::sum()))->*nothing; }),
                {"'large'", "the cap"});
    // Two fit; what others added gives way.
    for (int i = 0; i < 10; ++i) {
      ctx.task(exec_place::device(i % 2), d.reduce(reducer::sum()))->*increase;
      ctx.task(exec_place::device(i % 2), e.reduce(reducer::sum()))->*increase;
      if (i % 3 == 0)
        ctx.task(exec_place::device(0), e.rw(), d.rw())->*[](stream& s, slice<int> v, slice<int> w) {
          increase(s, v);
          increase(s, w);
        };
    }
    ctx.finalize();
    CHECK(x == std::vector<int>(64, 15));
    CHECK(y == std::vector<int>(64, 15));
    for (int pe = 0; pe < 2; ++pe) CHECK(ctx.statistics().places[static_cast<std::size_t>(pe)].in_use == 0);
    check_usable(m);
  }
}

// Whoever writes what others have added to, and cannot, leaves it with the sum.
TEST_CASE("writes that fail after a sum") {
  machine m = machine::host(1);
  for (const auto backend : stream_and_graph) {
    random r(std::random_device{}());
    INFO("STARLING_TEST_SEED=" << r.seed);
    const auto value = [&] { return static_cast<int>(r.below(1'000'000)); };
    const int first = value(), second = value(), third = value();
    std::vector<int> x(64, first), y(64, second), z(100, third);
    // One of 64 numbers fits.
    context ctx(m, {.backend = backend, .device_memory = 256});
    auto d = ctx.logical_data(x).set_symbol("x");
    auto e = ctx.logical_data(y).set_symbol("y");
    auto large = ctx.logical_data(z).set_symbol("large");
    auto fresh = ctx.logical_data(stf::shape_of<slice<int>>(4)).set_symbol("fresh");
    const auto write = [&] { ctx.task(d.write())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 0, 256); }; };
    // The sum is what fills the device.
    ctx.task(e.reduce(reducer::sum()))->*increase;
    check_parts(failure_of<argument_error>([&] {
                  ctx.task(e.write(), fresh.read(stf::data_place::host()))->*[](stream&, slice<int>, slice<const int>) {
                  };
                }),
                {"'fresh'"});
    CHECK(ctx.wait(e)(0) == second + 1);
    ctx.task(d.reduce(reducer::sum()))->*increase;
    write();
    CHECK(ctx.wait(d)(63) == 0);
    ctx.host_launch(large.reduce(reducer::sum()))->*[](slice<int> v) { v(99) += 1; };
    check_parts(failure_of<memory_error>([&] { (void)ctx.freeze(large.write(stf::data_place::device(0))); }),
                {"'large'", "the cap"});
    // A launch of recorded tasks that write it.
    auto step = ctx.record([&] {
      write();
      ctx.host_launch(e.read())->*[](slice<const int>) {};
    });
    ctx.host_launch(d.reduce(reducer::sum()))->*[first](slice<int> v) { v(7) += first; };
    try {
      ctx.task(exec_place::host(), e.rw()).set_symbol("bad")->*
          [](stream&, slice<int>) { throw std::runtime_error("no"); };
    } catch (const std::runtime_error&) {
    }
    check_parts(failure_of<stf::task_error>([&] { step.launch(); }), {"'y'", "'bad'"});
    CHECK(ctx.wait(d)(7) == first);
    ctx.host_launch(d.reduce(reducer::sum()))->*[](slice<int> v) { v(7) += 5; };
    ctx.host_launch(e.write())->*[second](slice<int> v) {
      for (index_t i = 0; i < v.extent(0); ++i) v(i) = second;
    };
    step.launch();
    CHECK(ctx.wait(d)(7) == 0);
    ctx.host_launch(d.reduce(reducer::sum()))->*[third](slice<int> v) { v(8) += third; };
    ctx.finalize();
    CHECK(x[7] == 0);
    CHECK(x[8] == third);
    CHECK(y == std::vector<int>(64, second));
    CHECK(z[98] == third);
    CHECK(z[99] == third + 1);
    check_usable(m);
  }
}

// To combine it room is made, for which all is written back whose last handle has gone.
TEST_CASE("sums of data that has gone, where a device is full") {
  machine m = machine::host(1);
  for (const auto backend : stream_and_graph) {
    random r(std::random_device{}());
    INFO("STARLING_TEST_SEED=" << r.seed);
    const int first = static_cast<int>(r.below(1'000'000)), second = static_cast<int>(r.below(1'000'000));
    std::vector<int> x(128, first), y(64, second);
    context ctx(m, {.backend = backend, .device_memory = 768});
    {
      auto d = ctx.logical_data(x);
      ctx.task(d.reduce(reducer::sum()))->*increase;
    }
    {
      auto e = ctx.logical_data(y);
      ctx.task(e.reduce(reducer::sum()))->*increase;
    }
    {
      auto d = ctx.logical_data(x.data(), 64);
      ctx.task(d.reduce(reducer::sum()))->*increase;
    }
    ctx.finalize();
    CHECK(y == std::vector<int>(64, second + 1));
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == first + (i < 64 ? 2 : 1));
    CHECK(ctx.statistics().places[0].in_use == 0);
    check_usable(m);
  }
}

}  // namespace
}  // namespace starling::test::stf_reductions_tests
