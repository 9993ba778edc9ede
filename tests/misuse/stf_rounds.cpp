// rounds with what its loops cannot have: refused as by repeat, and all data is as before.
#include "starling/stf/rounds.hpp"
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_rounds_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::loop;
using stf::slice;
using stf::task_error;

using int_data = stf::logical_data<slice<int>>;

struct add_one {
  STARLING_HD void operator()(index_t i, slice<int> v) const { v(i) += 1; }
};
struct add_two {
  STARLING_HD void operator()(index_t i, slice<int> v) const { v(i) += 2; }
};

// x keeps its value through what is tried; afterwards the context works.
template <class F>
void try_on(backend_kind backend, const F& f) {
  machine m = machine::host(2);
  std::vector<int> x(80, 5);
  {
    CAPTURE(static_cast<int>(backend));
    context ctx(m, {.backend = backend});
    auto a = ctx.logical_data(x).set_symbol("x");
    f(ctx, a);
    CHECK(ctx.wait(a)(79) == 5);
    stf::rounds(ctx, 3, loop(exec_place::device(1), a.shape(), a.rw())->*add_one(),
                loop(a.shape(), a.rw())->*add_two());
    ctx.finalize();
  }
  CHECK(x == std::vector<int>(80, 14));
  check_usable(m);
}

constexpr backend_kind all_back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::persistent};

TEST_CASE("a loop on the host") {
  try_on(backend_kind::persistent, [](context& ctx, int_data& a) {
    check_parts(failure_of<task_error>([&] {
                  stf::rounds(ctx, 2, loop(a.shape(), a.rw())->*add_one(),
                              loop(exec_place::host(), a.shape(), a.rw()).set_symbol("mine")->*add_two());
                }),
                {"task 'mine'", "work of the host", "stream_ctx"});
  });
  // Others do it.
  for (const backend_kind backend : {backend_kind::stream, backend_kind::graph}) {
    std::vector<int> x(80, 5);
    context ctx(machine::host(2), {.backend = backend});
    auto a = ctx.logical_data(x);
    stf::rounds(ctx, 2, loop(a.shape(), a.rw())->*add_one(), loop(exec_place::host(), a.shape(), a.rw())->*add_two());
    ctx.finalize();
    CHECK(x == std::vector<int>(80, 11));
  }
}

TEST_CASE("data of another context, and none") {
  for (const backend_kind backend : all_back_ends)
    try_on(backend, [&](context& ctx, int_data& a) {
      std::vector<int> y(80, 1);
      context other(ctx.on());
      const int_data theirs = other.logical_data(y).set_symbol("y");
      check_parts(failure_of<argument_error>([&] {
                    stf::rounds(ctx, 2, loop(a.shape(), a.rw())->*add_one(), loop(a.shape(), theirs.rw())->*add_two());
                  }),
                  {"logical data 'y'", "another context"});
      const int_data none;
      check_parts(failure_of<argument_error>([&] {
                    stf::rounds(ctx, 2, loop(a.shape(), a.rw())->*add_one(), loop(a.shape(), none.rw())->*add_two());
                  }),
                  {"logical data that is none"});
      other.finalize();
      CHECK(y == std::vector<int>(80, 1));
    });
}

TEST_CASE("a device that there is not, and a priority") {
  for (const backend_kind backend : all_back_ends)
    try_on(backend, [](context& ctx, int_data& a) {
      CHECK_THROWS_AS(stf::rounds(ctx, 2, loop(a.shape(), a.rw())->*add_one(),
                                  loop(exec_place::device(2), a.shape(), a.rw())->*add_two()),
                      range_error);
      check_parts(failure_of<range_error>([&] {
                    stf::rounds(ctx, 1, loop(a.shape(), a.rw()).set_symbol("first").set_priority(3)->*add_one());
                  }),
                  {"task 'first'", "priority 3"});
    });
}

TEST_CASE("data that nobody has written") {
  for (const backend_kind backend : all_back_ends)
    try_on(backend, [](context& ctx, int_data& a) {
      const auto b = ctx.logical_data(a.shape()).set_symbol("b");
      check_parts(failure_of<argument_error>([&] {
                    stf::rounds(ctx, 2, loop(a.shape(), a.rw())->*add_one(), loop(b.shape(), b.rw())->*add_two());
                  }),
                  {"logical data 'b'", "nothing has been written"});
    });
}

TEST_CASE("after the end, and within a task") {
  for (const backend_kind backend : all_back_ends) {
    std::vector<int> x(80, 5);
    context ctx(machine::host(1), {.backend = backend});
    auto a = ctx.logical_data(x);
    ctx.task(a.rw())->*[&](stream&, slice<int>) {
      CHECK_THROWS_AS(stf::rounds(ctx, 1, loop(a.shape(), a.rw())->*add_one()), argument_error);
    };
    ctx.finalize();
    CHECK_THROWS_AS(stf::rounds(ctx, 1, loop(a.shape(), a.rw())->*add_one()), argument_error);
    CHECK(x == std::vector<int>(80, 5));
  }
}

}  // namespace
}  // namespace starling::test::stf_rounds_tests
