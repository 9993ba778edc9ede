// Data that is frozen, used as it cannot be.
#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/stf/back_ends.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_freeze_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::slice;

TEST_CASE("tasks on data that is frozen") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(10, 3);
    stream s = m.new_stream(0);
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(x).set_symbol("x");
    {
      auto f = ctx.freeze(d.read());
      auto again = ctx.freeze(d.read(data_place::device(1)));
      ctx.task(d.read())->*only_read;
      check_parts(failure_of<argument_error>([&] { ctx.task(d.rw()).set_symbol("t")->*nothing; }),
                  {"task 't'", "'x'", "frozen", "unfreeze"});
      check_parts(failure_of<argument_error>([&] { ctx.task(d.write())->*nothing; }), {"'x'", "frozen"});
      check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(d.rw()); }), {"'x'", "frozen"});
      CHECK(ctx.wait(d)(9) == 3);
      f.unfreeze(s);
      check_parts(failure_of<argument_error>([&] { ctx.task(d.rw())->*nothing; }), {"'x'", "frozen"});
    }
    ctx.task(d.rw())->*nothing;
    {
      auto f = ctx.freeze(d.rw());
      check_parts(failure_of<argument_error>([&] { ctx.task(d.read())->*only_read; }), {"'x'", "frozen", "unfreeze"});
      check_parts(failure_of<argument_error>([&] { (void)ctx.wait(d); }), {"'x'", "frozen"});
      check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(d.read()); }), {"'x'", "frozen"});
      check_parts(failure_of<argument_error>([&] { ctx.prefetch(d, data_place::device(1)); }), {"'x'", "frozen"});
      check_parts(failure_of<argument_error>([&] { ctx.finalize(); }), {"finalize", "'x'", "frozen", "unfreeze"});
      s.fill(f.get(s).data_handle(), 0, 40);
      f.unfreeze(s);
    }
    ctx.finalize();
    CHECK(x == std::vector<int>(10, 0));
    check_usable(m);
  }
}

TEST_CASE("what is frozen no more") {
  machine m = machine::host(1);
  std::vector<int> x(10, 3);
  stream s = m.new_stream(0);
  context ctx(m);
  auto d = ctx.logical_data(x);
  auto f = ctx.freeze(d.rw());
  f.unfreeze(s);
  check_parts(failure_of<argument_error>([&] { (void)f.get(s); }), {"get", "frozen no more", "freeze"});
  check_parts(failure_of<argument_error>([&] { f.unfreeze(s); }), {"unfreeze", "frozen no more"});
  ctx.finalize();
  check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(d.rw()); }), {"finalized"});
  check_usable(m);
}

TEST_CASE("data, places and streams that cannot be frozen") {
  machine m = machine::host(1);
  machine larger = machine::host(3);
  for (const auto backend : stream_and_graph) {
    std::vector<int> x(10, 3);
    context ctx(m, {.backend = backend, .device_memory = 256});
    context other(m);
    auto d = ctx.logical_data(x).set_symbol("x");
    auto theirs = other.logical_data(x).set_symbol("theirs");
    auto fresh = ctx.logical_data(stf::shape_of<slice<int>>(10)).set_symbol("fresh");
    stf::logical_data<slice<int>> none;
    check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(none.read()); }), {"none"});
    check_parts(failure_of<argument_error>([&] { ctx.prefetch(none, data_place::device(0)); }), {"none"});
    check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(theirs.read()); }), {"'theirs'", "another context"});
    check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(fresh.read()); }), {"'fresh'", "write()"});
    check_parts(failure_of<argument_error>([&] { ctx.prefetch(fresh, data_place::device(0)); }), {"'fresh'"});
    check_parts(failure_of<range_error>([&] { (void)ctx.freeze(d.read(data_place::device(1))); }), {"device(1)", "1"});
    check_parts(failure_of<range_error>([&] { ctx.prefetch(d, data_place::device(-1)); }), {"device(-1)"});
    auto large = ctx.logical_data(stf::shape_of<slice<int>>(100)).set_symbol("large");
    check_parts(failure_of<memory_error>([&] { (void)ctx.freeze(large.write()); }), {"'large'", "cap"});
    auto f = ctx.freeze(d.read());
    stream far = larger.new_stream(2);
    check_parts(failure_of<range_error>([&] { f.unfreeze(far); }), {"device 2", "this machine"});
    // Nothing else fits while it is frozen.
    check_parts(failure_of<memory_error>([&] { ctx.task(fresh.write())->*nothing; }), {"'fresh'"});
    stream s = m.new_stream(0);
    f.unfreeze(s);
    ctx.task(fresh.write())->*nothing;
    ctx.finalize();
    other.finalize();
    CHECK(x == std::vector<int>(10, 3));
    check_usable(m);
  }
}

TEST_CASE("a value that a task should have written") {
  machine m = machine::host(1);
  std::vector<int> x(10, 3);
  stream s = m.new_stream(0);
  context ctx(m);
  auto d = ctx.logical_data(x).set_symbol("x");
  try {
    ctx.task(d.rw()).set_symbol("bad")->*[](stream&, slice<int>) { throw std::runtime_error("no"); };
  } catch (const std::runtime_error&) {
  }
  check_parts(failure_of<stf::task_error>([&] { (void)ctx.freeze(d.read()); }), {"'x'", "'bad'"});
  check_parts(failure_of<stf::task_error>([&] { ctx.prefetch(d, data_place::device(0)); }), {"'x'", "'bad'"});
  auto f = ctx.freeze(d.write());
  s.fill(f.get(s).data_handle(), 0, 40);
  f.unfreeze(s);
  ctx.task(d.read())->*only_read;
  ctx.finalize();
  CHECK(x == std::vector<int>(10, 0));
  check_usable(m);
}

TEST_CASE("get in a body of a task of a graph") {
  machine m = machine::host(1);
  std::vector<int> x(10, 3);
  stream s = m.new_stream(0);
  context ctx(m, {.backend = stf::backend_kind::graph});
  auto d = ctx.logical_data(x).set_symbol("x");
  auto f = ctx.freeze(d.read());
  ctx.task()->*[&](stream&) {
    check_parts(failure_of<argument_error>([&] { (void)f.get(s); }), {"get", "within the body of a task"});
  };
  (void)f.get(s);
  f.unfreeze(s);
  ctx.finalize();
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_freeze_tests
