// Tasks with dependencies counted at run time, used as they cannot be: the wrong number or type, out of order, on
// another thread.
#include <stdexcept>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_dynamic_tasks_tests {
namespace {

using stf::context;
using stf::dynamic_task;
using stf::exec_place;
using stf::slice;

TEST_CASE("a view of another type or number") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> X(5, 1);
  auto x = ctx.logical_data(X);
  auto t = ctx.task();
  t.add(x.read()).set_symbol("t");
  t.begin();
  check_parts(failure_of<argument_error>([&] { (void)t.get<slice<const double>>(0); }),
              {"dependency 0", "task 't'", "int const", "double const"});
  // Read access shows no writable view.
  check_parts(failure_of<argument_error>([&] { (void)t.get<slice<int>>(0); }), {"dependency 0", "int"});
  check_parts(failure_of<range_error>([&] { (void)t.get<slice<const int>>(1); }), {"dependency 1", "1"});
  check_parts(failure_of<range_error>([&] { (void)t.get<slice<const int>>(0, 1); }), {"place 1"});
  t.stream().synchronize();
  CHECK(t.get<slice<const int>>(0)(4) == 1);
  t.end();
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("calls out of order") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> X(5, 1);
  auto x = ctx.logical_data(X);
  auto t = ctx.task();
  t.add(x.rw()).set_symbol("t");
  check_parts(failure_of<argument_error>([&] { (void)t.stream(); }), {"'t'", "before it was begun", "begin()"});
  check_parts(failure_of<argument_error>([&] { (void)t.get<slice<int>>(0); }), {"before it was begun"});
  check_parts(failure_of<argument_error>([&] { t.end(); }), {"before it was begun"});
  check_parts(failure_of<argument_error>([&] { t.fail(); }), {"before it was begun"});
  t.begin();
  check_parts(failure_of<argument_error>([&] { t.begin(); }), {"begin of task 't'", "begun already", "another one"});
  check_parts(failure_of<argument_error>([&] { t.add(x.read()); }), {"add of task 't'", "begun already"});
  check_parts(failure_of<argument_error>([&] { t.set_symbol("u"); }), {"begun already"});
  check_parts(failure_of<argument_error>([&] { ctx.synchronize(); }), {"within the body of a task"});
  check_parts(failure_of<argument_error>([&] { ctx.task(x.rw())->*increase; }), {"holds it"});
  increase(t.stream(), t.get<slice<int>>(0));
  t.end();
  check_parts(failure_of<argument_error>([&] { (void)t.stream(); }), {"after its end"});
  check_parts(failure_of<argument_error>([&] { t.end(); }), {"after its end"});
  check_parts(failure_of<argument_error>([&] { t.begin(); }), {"begun already"});
  ctx.finalize();
  CHECK(X == std::vector<int>(5, 2));
  check_usable(m);
}

TEST_CASE("ended by another thread") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> X(5, 1);
  auto x = ctx.logical_data(X);
  auto t = ctx.task();
  t.add(x.rw()).set_symbol("t");
  t.begin();
  increase(t.stream(), t.get<slice<int>>(0));
  std::thread([&] {
    check_parts(failure_of<argument_error>([&] { t.end(); }), {"end of task 't'", "another thread"});
    check_parts(failure_of<argument_error>([&] { t.fail(); }), {"fail of task 't'", "another thread"});
  }).join();
  t.end();
  ctx.finalize();
  CHECK(X == std::vector<int>(5, 2));
  check_usable(m);
}

TEST_CASE("a task that does not end, one that fails, and a body that throws") {
  machine m = machine::host(1);
  for (const int way : {0, 1, 2}) {
    context ctx(m);
    std::vector<int> X(5, 1);
    auto x = ctx.logical_data(X).set_symbol("x");
    if (way == 0) {
      auto t = ctx.task();
      t.add(x.rw()).set_symbol("t");
      t.begin();
    } else if (way == 1) {
      auto t = ctx.task();
      t.add(x.rw()).set_symbol("t");
      t.begin();
      t.fail();
    } else {
      auto t = ctx.task();
      t.add(x.rw()).set_symbol("t");
      (void)failure_of<std::runtime_error>(
          [&] { t->*[](stream&, const dynamic_task&) { throw std::runtime_error("no"); }; });
    }
    check_parts(failure_of<stf::task_error>([&] { ctx.task(x.read())->*[](stream&, slice<const int>) {}; }),
                {"'x'", "no value", "task 't'"});
    ctx.task(x.write())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 0, 20); };
    ctx.finalize();
    CHECK(X == std::vector<int>(5, 0));
  }
  check_usable(m);
}

TEST_CASE("streams of the user that do not fit") {
  machine m = machine::host(2);
  context ctx(m);
  std::vector<int> X(5, 1);
  auto x = ctx.logical_data(X);
  stream mine = m.new_stream(0);
  auto far = ctx.task(exec_place::device(1));
  far.add(x.rw()).set_symbol("far");
  check_parts(failure_of<range_error>([&] { far.begin(mine); }), {"'far'", "device 1", "stream of device 0"});
  auto wide = ctx.task(exec_place::all_devices());
  wide.add(x.rw());
  check_parts(failure_of<argument_error>([&] { wide.begin(mine); }), {"one stream", "one device"});
  auto any = ctx.task(exec_place::automatic());
  any.add(x.rw());
  check_parts(failure_of<argument_error>([&] { any.begin(mine); }), {"one stream", "one device"});
  // None of them has begun: the data keeps its value, and they may begin otherwise.
  far.begin();
  increase(far.stream(), far.get<slice<int>>(0));
  far.end();
  ctx.finalize();
  CHECK(X == std::vector<int>(5, 2));
  check_usable(m);
}

TEST_CASE("data of another context, or none") {
  machine m = machine::host(1);
  context ctx(m);
  context other(m);
  std::vector<int> X(5, 1);
  auto x = other.logical_data(X).set_symbol("x");
  auto t = ctx.task();
  t.add(x.rw());
  check_parts(failure_of<argument_error>([&] { t.begin(); }), {"'x'", "another context"});
  auto n = ctx.task();
  n.add(stf::logical_data<slice<int>>().rw());
  check_parts(failure_of<argument_error>([&] { n.begin(); }), {"none", "context::logical_data"});
  ctx.finalize();
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_dynamic_tasks_tests
