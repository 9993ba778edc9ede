// Accesses of tasks to what is not theirs: outside of the bounds of their data, data that they did not name, data that
// they named for reading only; and names in messages.
#include "starling/stf/context.hpp"
#include "support/checked.hpp"
#include "support/stf/back_ends.hpp"

namespace starling::test::stf_bounds_kernels_tests {
namespace {

using namespace stf;

constexpr index_t n = 128;

using words = std::initializer_list<std::string>;

// Runs f(context) on a checked machine and looks at what is found.
template <class F>
void check_task(defect what, words expected, const F& f, const context_options& options = {}, int devices = 2) {
  machine m = one_thread_machine(devices, 5);
  const auto e = finding_of([&] {
    context ctx(m, options);
    f(ctx);
    ctx.finalize();
  });
  if (!e) return;
  CHECK_MESSAGE(std::string(name(e->what_kind())) == name(what), e->what());
  check_parts(e->what(), expected);
  CHECK_FALSE(e->blocks().empty());
}

template <class F>
void check_passes(const F& f, const context_options& options = {}, int devices = 2) {
  machine m = checked_machine(devices, 20);
  try {
    context ctx(m, options);
    f(ctx);
    ctx.finalize();
  } catch (const check_error& e) {
    FAIL_CHECK(e.what());
  }
  CHECK(m.checked().accesses_seen);
}

TEST_CASE("a neighbour in the pool, one past the end, before the beginning") {
  struct wrong {
    index_t shift;
    std::string text;
  };
  for (const backend_kind backend : stream_and_graph)
    for (const wrong& w : {wrong{128, " bytes behind the end of logical data 'a' (1024 bytes)"},
                           wrong{1, "0 bytes behind the end of logical data 'a' (1024 bytes)"},
                           wrong{-1, "8 bytes before the beginning of logical data 'a' (1024 bytes)"}}) {
      const index_t shift = w.shift;
      check_task(
          defect::out_of_bounds,
          {"out of bounds of logical data 'a'", "task 'shift'", "reads 8 bytes at", "stf_bounds_kernels.cpp:", w.text},
          [&](context& ctx) {
            std::vector<double> a(n, 1);
            std::vector<double> b(n, 2);
            auto la = ctx.logical_data(a).set_symbol("a");
            auto lb = ctx.logical_data(b).set_symbol("b");
            ctx.parallel_for(lb.shape(), la.read(), lb.write()).set_symbol("shift")->*STARLING_KERNEL(
                                                                                          index_t i,
                                                                                          slice<const double> x,
                                                                                          slice<double> y) {
              y(i) = x.data_handle()[i + shift];
            };
            ctx.finalize();
          },
          {.backend = backend});
    }
}

TEST_CASE("a write behind the end does not reach other data") {
  check_task(
      defect::out_of_bounds,
      {"out of bounds of logical data 'b'", "writes 4 bytes at", "stf_bounds_kernels.cpp:", "8 bytes behind the end"},
      [](context& ctx) {
        auto la = ctx.logical_data(shape_of<slice<int>>(7)).set_symbol("a");
        auto lb = ctx.logical_data(shape_of<slice<int>>(7)).set_symbol("b");
        ctx.task(la.write(), lb.write())->*[](stream& s, slice<int> x, slice<int> y) {
          s.launch(
              2, STARLING_KERNEL(block & b) {
                b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) = y(i) = 0; });
                if (b.index() == 1) y.data_handle()[9] = 1;
              });
        };
      });
}

TEST_CASE("data that a task does not name") {
  for (const backend_kind backend : stream_and_graph)
    check_task(defect::undeclared,
               {"byte 40 of logical data 'b' (512 bytes)", "task 'sum' (", ") does not name", "writes 4 bytes at",
                "stf_bounds_kernels.cpp:"},
               [](context& ctx) {
                 auto la = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("a");
                 auto lb = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("b");
                 slice<int> kept;
                 ctx.task(lb.write())->*[&](stream& s, slice<int> y) {
                   s.fill(y.data_handle(), 0, n * sizeof(int));
                   kept = y;
                 };
                 ctx.task(la.write()).set_symbol("sum")->*
                     [&](stream& s, slice<int> x) { s.launch(1, STARLING_KERNEL(block&) { x(0) = kept(10) = 1; }); };
               },
               {.backend = backend});
}

TEST_CASE("data that was given back") {
  check_task(defect::undeclared, {"memory that was given back by logical data 'gone'", "(task 2)", "task 2 ("},
             [](context& ctx) {
               auto la = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("a");
               slice<int> kept;
               {
                 auto lb = ctx.logical_data(shape_of<slice<int>>(2 * n)).set_symbol("gone");
                 ctx.task(lb.write())->*[&](stream& s, slice<int> y) {
                   s.fill(y.data_handle(), 0, 2 * n * sizeof(int));
                   kept = y;
                 };
               }
               ctx.task(la.write())->*[&](stream& s, slice<int> x) {
                 s.launch(1, STARLING_KERNEL(block&) { x(0) = kept(10); });
               };
             });
}

TEST_CASE("data that is named for reading and written through a cast") {
  check_task(defect::undeclared,
             {"writes 8 bytes at", "stf_bounds_kernels.cpp:", "byte 0 of logical data 'x' (1024 bytes)",
              "task 'cast' (", ") names for reading only"},
             [](context& ctx) {
               std::vector<double> x(n, 1);
               auto lx = ctx.logical_data(x).set_symbol("x");
               ctx.parallel_for(box(1), lx.read()).set_symbol("cast")->*STARLING_KERNEL(index_t i,
                                                                                        slice<const double> v) {
                 const_cast<double&>(v(i)) = 0;
               };
               ctx.finalize();
             });
}

TEST_CASE("copies of a task") {
  check_task(defect::undeclared, {"by a copy, byte 0 of logical data 'b'", "task 'copy' (", ") does not name"},
             [](context& ctx) {
               auto la = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("a");
               auto lb = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("b");
               slice<int> kept;
               ctx.task(lb.write())->*[&](stream& s, slice<int> y) {
                 s.fill(y.data_handle(), 0, n * sizeof(int));
                 kept = y;
               };
               ctx.task(la.write()).set_symbol("copy")->*
                   [&](stream& s, slice<int> x) { s.copy(x.data_handle(), kept.data_handle(), n * sizeof(int)); };
             });
}

TEST_CASE("work of the host") {
  for (const index_t where : {n, index_t{-1}, n + 100})
    check_task(defect::out_of_bounds, {"out of bounds of logical data 'v'", "task 'host'"}, [&](context& ctx) {
      std::vector<int> v(n, 1);
      auto lv = ctx.logical_data(v).set_symbol("v");
      ctx.host_launch(lv.rw()).set_symbol("host")->*[where](slice<int> x) { x.data_handle()[where] = 3; };
      ctx.finalize();
    });
  check_task(defect::out_of_bounds, {"out of bounds of logical data 'v'", "task 'loop'"}, [](context& ctx) {
    std::vector<int> v(n, 1);
    auto lv = ctx.logical_data(v).set_symbol("v");
    ctx.parallel_for(exec_place::host(), lv.shape(), lv.rw()).set_symbol("loop")->*
        [](index_t i, slice<int> x) { x(i) = x.data_handle()[i + 1]; };
    ctx.finalize();
  });
}

TEST_CASE("a loop over several devices") {
  check_task(
      defect::out_of_bounds,
      {"out of bounds of logical data 'x'", "task 'all'", "0 bytes behind the end of logical data 'x'"},
      [](context& ctx) {
        std::vector<double> x(n, 1);
        auto lx = ctx.logical_data(x).set_symbol("x");
        ctx.parallel_for(exec_place::all_devices(), lx.shape(), lx.rw()).set_symbol("all")->*STARLING_KERNEL(
                                                                                                 index_t i,
                                                                                                 slice<double> v) {
          if (i == n - 1) v(i) = v.data_handle()[i + 1];
        };
        ctx.finalize();
      });
}

TEST_CASE("loops that are recorded") {
  for (const backend_kind backend : stream_and_graph)
    check_task(defect::out_of_bounds,
               {"out of bounds of logical data 'x'", "task 'step'", "4 bytes before the beginning of logical data 'x'"},
               [](context& ctx) {
                 std::vector<int> x(n, 1);
                 std::vector<int> y(n, 1);
                 auto lx = ctx.logical_data(x).set_symbol("x");
                 auto ly = ctx.logical_data(y).set_symbol("y");
                 ctx.repeat(3, [&] {
                   ctx.parallel_for(ly.shape(), ly.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1; };
                   ctx.parallel_for(lx.shape(), ly.read(), lx.rw()).set_symbol("step")->*STARLING_KERNEL(
                                                                                             index_t i,
                                                                                             slice<const int> w,
                                                                                             slice<int> v) {
                     // Only when y has been added to twice.
                     if (w(i) == 3 && i == 0) v(i) = v.data_handle()[i - 1];
                   };
                 });
                 ctx.finalize();
               },
               {.backend = backend});
}

TEST_CASE("a persistent program") {
  check_task(
      defect::out_of_bounds, {"out of bounds of logical data 'x'", "task 'step'", "behind the end of logical data 'x'"},
      [](context& ctx) {
        std::vector<int> x(n, 1);
        std::vector<int> y(n, 1);
        auto lx = ctx.logical_data(x).set_symbol("x");
        auto ly = ctx.logical_data(y).set_symbol("y");
        ctx.repeat(3, [&] {
          ctx.parallel_for(ly.shape(), ly.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1; };
          ctx.parallel_for(lx.shape(), ly.read(), lx.rw()).set_symbol("step")->*STARLING_KERNEL(index_t i,
                                                                                                slice<const int> w,
                                                                                                slice<int> v) {
            v(i) = w(i) == 4 ? v.data_handle()[i + n] : 1;
          };
        });
        ctx.finalize();
      },
      {.backend = backend_kind::persistent});
  // Data of another task of the same program.
  check_task(defect::undeclared, {"byte 0 of logical data 'x' (512 bytes)", "task 'other' (", ") does not name"},
             [](context& ctx) {
               std::vector<int> x(n, 1);
               std::vector<int> y(n, 1);
               auto lx = ctx.logical_data(x).set_symbol("x");
               auto ly = ctx.logical_data(y).set_symbol("y");
               slice<int> kept;
               ctx.task(exec_place::device(0), lx.rw())->*[&](stream&, slice<int> v) { kept = v; };
               ctx.repeat(2, [&] {
                 ctx.parallel_for(lx.shape(), lx.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1; };
                 ctx.parallel_for(box(1), ly.rw()).set_symbol("other")->*STARLING_KERNEL(index_t i, slice<int> v) {
                   v(i) = kept(i);
                 };
               });
               ctx.finalize();
             },
             {.backend = backend_kind::persistent});
}

TEST_CASE("parts of data") {
  // A neighbour's row, of a part that is the whole's own memory.
  check_task(defect::out_of_bounds, {"out of bounds of logical data 'a[0]'", "where logical data 'a[1]' lies"},
             [](context& ctx) {
               auto la = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("a");
               ctx.parallel_for(la.shape(), la.write())->*STARLING_KERNEL(index_t i, slice<int> x) { x(i) = 0; };
               auto parts = ctx.split(la, 2);
               ctx.parallel_for(parts[0].shape(), parts[0].rw())->*STARLING_KERNEL(index_t i, slice<int> x) {
                 if (i == n / 2 - 1) x(i) = x.data_handle()[i + 1];
               };
             });
  // A row of the halo that the task did not ask for.
  check_task(defect::out_of_bounds, {"out of bounds of logical data 'a[1]'", "4 bytes before the beginning"},
             [](context& ctx) {
               auto la = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("a");
               auto lb = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("b");
               ctx.parallel_for(la.shape(), la.write())->*STARLING_KERNEL(index_t i, slice<int> x) { x(i) = 0; };
               auto parts = ctx.split(la, 2, halo{1});
               ctx.parallel_for(box(1), parts.with_halo(1), lb.write())
                       ->*STARLING_KERNEL(index_t, slice<const int> x, slice<int> y) {
                 y(0) = x(0) + x(1);
               };
               ctx.parallel_for(parts[1].shape(), parts[1].rw())->*STARLING_KERNEL(index_t i, slice<int> x) {
                 if (i == 0) x(i) = x.data_handle()[i - 1];
               };
             });
}

TEST_CASE("data and tasks without names") {
  check_task(
      defect::out_of_bounds,
      {"out of bounds of logical data 2 (made at", "(task 1)", "task 1 (", "stf_bounds_kernels.cpp:"},
      [](context& ctx) {
        auto la = ctx.logical_data(shape_of<slice<int>>(n));
        auto lb = ctx.logical_data(shape_of<slice<int>>(3));
        ctx.parallel_for(lb.shape(), la.write(), lb.write())->*STARLING_KERNEL(index_t i, slice<int>, slice<int> y) {
          y.data_handle()[i + 1] = 1;
        };
      });
}

TEST_CASE("a value that nothing has written is told with the name of the data") {
  check_task(defect::uninitialised, {"byte 0 of logical data 'y' (512 bytes)", "task 'old'"}, [](context& ctx) {
    auto ly = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("y");
    ctx.parallel_for(box(1), ly.write()).set_symbol("old")->*STARLING_KERNEL(index_t i, slice<int> y) { y(i) += 1; };
  });
}

TEST_CASE("accesses that nothing orders are told with the names of the tasks and of the data") {
  machine m = checked_machine(1, 20);
  stream s = m.new_stream(0);
  const auto e = finding_of([&] {
    context ctx(m);
    auto la = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("a");
    slice<int> kept;
    ctx.task(la.write()).set_symbol("first")->*[&](stream& w, slice<int> x) {
      kept = x;
      w.launch(1, STARLING_KERNEL(block & b) { b.for_each(n, [&](index_t i) { x(i) = 1; }); });
    };
    s.launch(1, STARLING_KERNEL(block & b) { b.for_each(n, [&](index_t i) { kept(i) = 2; }); });
    ctx.finalize();
  });
  REQUIRE(e);
  CHECK_MESSAGE(e->what_kind() == defect::unordered_write, e->what());
  check_parts(e->what(), {"(task 'first')", "of logical data 'a' (512 bytes)"});
}

TEST_CASE("right tasks of all kinds pass") {
  for (const backend_kind backend : stream_and_graph)
    check_passes(
        [](context& ctx) {
          std::vector<int> x(n, 1);
          auto lx = ctx.logical_data(x).set_symbol("x");
          auto ly = ctx.logical_data(shape_of<slice<int>>(n));
          auto sum = ctx.logical_data(shape_of<scalar_view<int>>());
          ctx.parallel_for(exec_place::all_devices(), lx.shape(), lx.read(), ly.write())
                  ->*STARLING_KERNEL(index_t i, slice<const int> v, slice<int> w) {
            w(i) = 2 * v(i);
          };
          ctx.parallel_for(exec_place::all_devices(), ly.shape(), ly.read(), sum.reduce(reducer::sum()))
                  ->*STARLING_KERNEL(index_t i, slice<const int> v, int& s) {
            s += v(i);
          };
          for (int i = 0; i < 2; ++i)
            ctx.task(exec_place::device(i), ly.read(), lx.reduce(reducer::sum()))
                    ->*
                [](stream& s, slice<const int> v, slice<int> w) {
                  s.launch(
                      2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(n), [&](index_t k) { w(k) += v(k); }); });
                };
          ctx.host_launch(lx.rw(), sum.read())->*[](slice<int> v, scalar_view<const int> s) { v(0) += *s.get(); };
          ctx.finalize();
          CHECK(x[0] == 1 + 4 + 2 * n);
          CHECK(x[1] == 1 + 4);
        },
        {.backend = backend});
}

// Memory goes from one datum to the next before anything has run.
TEST_CASE("memory that changes hands") {
  check_passes(
      [](context& ctx) {
        std::vector<int> x(n, 0);
        auto lx = ctx.logical_data(x);
        for (int round = 0; round < 6; ++round) {
          auto ly =
              ctx.logical_data(shape_of<slice<int>>(n)).set_symbol(std::string(1, static_cast<char>('a' + round)));
          ctx.parallel_for(exec_place::device(round % 2), ly.shape(), ly.write())
                  ->*STARLING_KERNEL(index_t i, slice<int> v) {
            v(i) = static_cast<int>(i);
          };
          ctx.parallel_for(ly.shape(), ly.read(), lx.rw())
                  ->*STARLING_KERNEL(index_t i, slice<const int> v, slice<int> w) {
            w(i) += v(i);
          };
        }
        ctx.finalize();
        CHECK(x[5] == 30);
      },
      {.device_memory = 3 * n * sizeof(int)});
}

// A body that submits a task of its own, and goes on.
TEST_CASE("tasks within tasks have what they name") {
  const auto nested = [](context& ctx, bool wrong) {
    auto la = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("a");
    auto lb = ctx.logical_data(shape_of<slice<int>>(n)).set_symbol("b");
    const auto set = [](stream& s, slice<int> v) {
      s.launch(1, STARLING_KERNEL(block & b) { b.for_each(n, [&](index_t i) { v(i) = 1; }); });
    };
    ctx.task(la.write()).set_symbol("outer")->*[&](stream& s, slice<int> x) {
      slice<int> inner;
      ctx.task(lb.write()).set_symbol("inner")->*[&](stream& t, slice<int> y) {
        set(t, y);
        inner = y;
      };
      set(s, wrong ? inner : x);
    };
  };
  check_passes([&](context& ctx) { nested(ctx, false); });
  check_task(defect::undeclared, {"of logical data 'b'", "task 'outer' (", ") does not name"},
             [&](context& ctx) { nested(ctx, true); });
}

}  // namespace
}  // namespace starling::test::stf_bounds_kernels_tests
