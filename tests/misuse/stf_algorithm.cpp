// Algorithms on places that they cannot have, with two bodies, and with bodies that throw.
#include <stdexcept>

#include "starling/stf/algorithm.hpp"
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_algorithm_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;
using data = stf::logical_data<slice<int>>;

TEST_CASE("places of several devices and the host") {
  machine m = machine::host(2);
  context ctx(m);
  std::vector<int> x(5, 1);
  auto d = ctx.logical_data(x);
  stf::algorithm alg(ctx, "a");
  const auto body = [](context&, const exec_place&, data) {};
  for (const exec_place& where : {exec_place::host(), exec_place::all_devices(), exec_place::grid({0, 1})})
    check_parts(failure_of<argument_error>([&] { alg.run(where, body, d.rw()); }),
                {"algorithm 'a'", describe(where), "one device"});
  (void)failure_of<range_error>([&] { alg.run(exec_place::device(2), body, d.rw()); });
  ctx.finalize();
  CHECK(x == std::vector<int>(5, 1));
  check_usable(m);
}

TEST_CASE("another body") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> x(5, 1);
  auto d = ctx.logical_data(x);
  stf::algorithm alg(ctx, "a");
  alg.run(exec_place::device(0), [](context&, const exec_place&, data) {}, d.rw());
  check_parts(failure_of<argument_error>(
                  [&] { alg.run(exec_place::device(0), [](context&, const exec_place&, data) {}, d.rw()); }),
              {"algorithm 'a'", "another body", "for each"});
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("a body that throws, and is called again") {
  machine m = machine::host(1);
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    context ctx(m, {.backend = backend});
    std::vector<int> x(5, 1);
    auto d = ctx.logical_data(x).set_symbol("x");
    stf::algorithm alg(ctx, "a");
    bool good = false;
    const auto body = [&](context& inner, const exec_place& here, data v) {
      inner.parallel_for(here, v.shape(), v.write())->*[](index_t i, slice<int> s) { s(i) = 4; };
      if (!good) throw std::runtime_error("no");
    };
    CHECK(failure_of<std::runtime_error>([&] { alg.run(exec_place::device(0), body, d.rw()); }) == "no");
    CHECK(alg.graphs() == 0);
    check_parts(failure_of<stf::task_error>([&] { ctx.task(d.read())->*[](stream&, slice<const int>) {}; }),
                {"'x'", "task 'a'"});
    good = true;
    alg.run(exec_place::device(0), body, d.write());
    ctx.finalize();
    CHECK(x == std::vector<int>(5, 4));
  }
  check_usable(m);
}

TEST_CASE("data of another context in the body") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> x(5, 1);
  auto d = ctx.logical_data(x).set_symbol("outer");
  stf::algorithm alg(ctx);
  check_parts(failure_of<argument_error>([&] {
                alg.run(
                    exec_place::device(0),
                    [&](context& inner, const exec_place&, data) { inner.task(d.rw())->*[](stream&, slice<int>) {}; },
                    d.rw());
              }),
              {"'outer'", "another context"});
  ctx.task(d.write())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 0, 20); };
  ctx.finalize();
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_algorithm_tests
