// Bodies of loops that cannot be a persistent program: refused with the name of the task, and all data is as before.
// And programs that stall.
#include <random>

#include "starling/stf/context.hpp"
#include "support/environment_guard.hpp"
#include "support/random.hpp"
#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_persistent_tests {
namespace {

using stf::data_place;
using stf::exec_place;
using stf::persistent_ctx;
using stf::scalar_view;
using stf::slice;
using stf::task_error;

using int_data = stf::logical_data<slice<int>>;
using flag_data = stf::logical_data<scalar_view<int>>;

template <class Error, class F>
void check_throws(const F& f, std::initializer_list<std::string> parts) {
  check_parts(failure_of<Error>(f), parts);
}

struct add_one {
  STARLING_HD void operator()(index_t i, slice<int> v) const { v(i) += 1; }
};

// x and the flag keep their values through what is tried; afterwards the context works.
template <class F>
void try_body(const F& f) {
  machine m = machine::host(2);
  std::vector<int> x(80, 5);
  int flag = 7;
  {
    persistent_ctx ctx(m);
    auto a = ctx.logical_data(x).set_symbol("x");
    auto again = ctx.logical_data(scalar_view<int>(&flag)).set_symbol("flag");
    f(ctx, a, again);
    CHECK(ctx.wait(a)(79) == 5);
    CHECK(ctx.wait(again) == 7);
    ctx.repeat(3, [&] { ctx.parallel_for(exec_place::device(1), a.shape(), a.rw())->*add_one(); });
    ctx.finalize();
  }
  CHECK(x == std::vector<int>(80, 8));
  CHECK(flag == 7);
  check_usable(m);
}

template <class F>
void check_refused(const F& body, std::initializer_list<std::string> parts) {
  try_body([&](persistent_ctx& ctx, int_data& a, flag_data& again) {
    const auto tasks = [&] {
      ctx.parallel_for(a.shape(), a.rw())->*add_one();
      body(ctx, a, again);
    };
    check_throws<task_error>([&] { ctx.repeat(3, tasks); }, parts);
    // As a single round, too.
    check_throws<task_error>([&] { ctx.repeat(1, tasks); }, parts);
  });
}

TEST_CASE("a task with a body that puts work into a stream") {
  check_refused([](persistent_ctx& ctx, int_data& a,
                   flag_data&) { ctx.task(a.rw()).set_symbol("mine")->*[](stream&, slice<int>) {}; },
                {"task 'mine'", "a body that puts work into streams", "stream_ctx", "graph_ctx"});
}

TEST_CASE("work of the host") {
  check_refused([](persistent_ctx& ctx, int_data& a,
                   flag_data&) { ctx.host_launch(a.rw()).set_symbol("mine")->*[](slice<int>) {}; },
                {"task 'mine'", "work of the host", "stream_ctx"});
}

TEST_CASE("a loop on the host") {
  check_refused(
      [](persistent_ctx& ctx, int_data& a, flag_data&) {
        ctx.parallel_for(exec_place::host(), a.shape(), a.rw()).set_symbol("mine")->*add_one();
      },
      {"task 'mine'", "work of the host", "stream_ctx"});
}

TEST_CASE("a launch whose blocks wait for each other") {
  check_refused(
      [](persistent_ctx& ctx, int_data& a, flag_data&) {
        const auto spec = stf::con(2, stf::con<32>());
        using levels = stf::thread_hierarchy<std::remove_const_t<decltype(spec)>>;
        ctx.launch(spec, exec_place::device(0), a.rw()).set_symbol("mine")->*STARLING_KERNEL(levels th, slice<int>) {
          th.sync();
        };
      },
      {"task 'mine'", "2 blocks wait for each other", "stream_ctx"});
}

TEST_CASE("a launch of blocks with idle threads") {
  check_refused(
      [](persistent_ctx& ctx, int_data& a, flag_data&) {
        const auto spec = stf::par(2, stf::con<20>());
        using levels = stf::thread_hierarchy<std::remove_const_t<decltype(spec)>>;
        ctx.launch(spec, exec_place::device(0), a.rw()).set_symbol("mine")->*STARLING_KERNEL(levels, slice<int>){};
      },
      {"task 'mine'", "20 threads", "stream_ctx"});
}

TEST_CASE("a launch that reduces") {
  check_refused(
      [](persistent_ctx& ctx, int_data& a, flag_data&) {
        const auto spec = stf::par(2, stf::con<32>());
        using levels = stf::thread_hierarchy<std::remove_const_t<decltype(spec)>>;
        ctx.launch(spec, exec_place::device(0), a.reduce(stf::reducer::sum())).set_symbol("mine")->*STARLING_KERNEL(
                                                                                                        levels,
                                                                                                        slice<int>){};
      },
      {"task 'mine'", "a reduction", "stream_ctx"});
}

TEST_CASE("a copy from the host in each round") {
  check_refused(
      [](persistent_ctx& ctx, int_data& a, flag_data&) {
        ctx.parallel_for(exec_place::device(0), a.shape(), a.rw(data_place::host()))->*add_one();
        ctx.parallel_for(exec_place::device(1), a.shape(), a.rw())->*add_one();
      },
      {"logical data 'x'", "host", "each round", "stream_ctx"});
}

TEST_CASE("loops with a condition, branches and recordings within a loop") {
  try_body([](persistent_ctx& ctx, int_data& a, flag_data& again) {
    const auto add = [&] { ctx.parallel_for(a.shape(), a.rw())->*add_one(); };
    const stf::recorded_tasks other = ctx.record([] {});
    const std::function<void()> bodies[] = {[&] { ctx.repeat_while(again, add, 4); }, [&] { ctx.run_if(again, add); },
                                            [&] { (void)ctx.record(add); }, [&] { other.launch(); },
                                            [&] {
                                              ctx.repeat_while(2, add, a.read())->*STARLING_KERNEL(slice<const int>) {
                                                return true;
                                              };
                                            }};
    for (const auto& body : bodies)
      check_throws<task_error>([&] { ctx.repeat(3, body); }, {"persistent program", "stream_ctx"});
  });
}

TEST_CASE("a loop without a task that writes its flag") {
  try_body([](persistent_ctx& ctx, int_data& a, flag_data& again) {
    check_throws<argument_error>(
        [&] { ctx.repeat_while(again, [&] { ctx.parallel_for(a.shape(), a.rw())->*add_one(); }, 4); },
        {"writes the flag", "'flag'"});
  });
}

TEST_CASE("a flag that tasks leave on the host") {
  try_body([](persistent_ctx& ctx, int_data&, flag_data& again) {
    const auto body = [&] {
      ctx.parallel_for(stf::box(1), again.write(data_place::host()))->*STARLING_KERNEL(index_t, scalar_view<int> f) {
        *f = 0;
      };
    };
    check_throws<task_error>([&] { ctx.repeat_while(again, body, 4); }, {"'flag'", "on the host", "stream_ctx"});
  });
}

TEST_CASE("a body that throws, and none") {
  try_body([](persistent_ctx& ctx, int_data& a, flag_data&) {
    CHECK_THROWS_AS(ctx.repeat(2,
                               [&] {
                                 ctx.parallel_for(a.shape(), a.rw())->*add_one();
                                 throw 7;
                               }),
                    int);
    CHECK_THROWS_AS(ctx.repeat(2, nullptr), argument_error);
    ctx.repeat(5, [] {});
    ctx.repeat(0, [&] { ctx.parallel_for(a.shape(), a.rw())->*add_one(); });
    CHECK_THROWS_AS(ctx.repeat(2, [&] { ctx.synchronize(); }), argument_error);
  });
}

struct set_zero {
  STARLING_HD void operator()(index_t i, slice<int> v) const { v(i) = 0; }
};

// Sums that wait to be combined are part of what it would replace.
struct unstarted_loop {
  random r{std::random_device{}()};
  int expected = static_cast<int>(r.below(1'000'000));
  std::vector<int> x = std::vector<int>(80, expected);

  // f: a loop that sets x to 0 does not start. False: it was done.
  template <class F>
  void keeps_values(persistent_ctx& ctx, int_data& a, const F& f) {
    const int more = static_cast<int>(r.below(1000));
    ctx.host_launch(a.reduce(stf::reducer::sum()))->*[more](slice<int> v) {
      for (index_t i = 0; i < v.extent(0); ++i) v(i) += more;
    };
    expected = f() ? expected + more : 0;
    CHECK(ctx.wait(a)(79) == expected);
  }
};

TEST_CASE_FIXTURE(unstarted_loop, "a loop for which there is no memory") {
  INFO("STARLING_TEST_SEED=" << r.seed);
  machine m = machine::host(2);
  persistent_ctx ctx(m);
  auto a = ctx.logical_data(x).set_symbol("x");
  const auto loop = [&](const auto& body) {
    ctx.repeat(2, [&] { ctx.parallel_for(exec_place::device(1), a.shape(), a.write())->*body; });
  };
  loop(set_zero());
  expected = 0;
  int nth = 0;
  for (bool failed = true; failed;)
    keeps_values(ctx, a, [&] {
      m.inject({{fail_allocation{.nth = ++nth}}});
      try {
        loop(set_zero());
        failed = false;
      } catch (const memory_error&) {
      }
      m.inject({});
      return failed;
    });
  CHECK(nth > 2);
  ctx.finalize();
  check_usable(m);
}

TEST_CASE_FIXTURE(unstarted_loop, "a loop whose kernels are not resident together") {
  INFO("STARLING_TEST_SEED=" << r.seed);
  const environment_guard few("STARLING_HOST_BLOCKS", "1");
  machine m = machine::host(2);
  {
    persistent_ctx ctx(m);
    auto a = ctx.logical_data(x).set_symbol("x");
    keeps_values(ctx, a, [&] {
      check_throws<task_error>(
          [&] {
            ctx.repeat(2, [&] {
              ctx.parallel_for(exec_place::device(1), a.shape(), a.write())->*set_zero();
              ctx.parallel_for(exec_place::device(1), a.shape(), a.rw())->*add_one();
            });
          },
          {"2 kinds of kernels", "do not fit", "stream_ctx"});
      return true;
    });
    ctx.repeat(2, [&] { ctx.parallel_for(exec_place::device(1), a.shape(), a.rw())->*add_one(); });
    ctx.finalize();
  }
  CHECK(x == std::vector<int>(80, expected + 2));
}

TEST_CASE("a signal that is lost: the stall names the task") {
  const environment_guard soon("STARLING_DEADLINE", "0.2");
  machine m = machine::host(2);
  std::vector<int> x(80, 5);
  persistent_ctx ctx(m);
  auto a = ctx.logical_data(x).set_symbol("x");
  // Device 0 tells device 1 of the second round.
  m.inject({{drop_signal{{.pe = 0, .nth = 2}}}});
  const auto e = stall_of([&] {
    ctx.repeat(5, [&] {
      ctx.parallel_for(exec_place::device(0), stf::box(1), a.rw()).set_symbol("first")->*add_one();
      ctx.parallel_for(exec_place::device(1), stf::box(1), a.rw()).set_symbol("second")->*add_one();
    });
  });
  m.inject({});
  REQUIRE(e);
  // Whose deadline passes first is open: that of the task, of the copies or of the device that was not told.
  check_parts(e->what(), {"deadline passed in wait at ", ", round:", "from PE "});
  const std::string text = e->what();
  CHECK((text.find("task 'first', round:") != std::string::npos ||
         text.find("task 'second', round:") != std::string::npos ||
         text.find("a copy of logical data 'x', round:") != std::string::npos));
  // What the tasks should have written has no value.
  check_throws<task_error>([&] { (void)ctx.wait(a); }, {"logical data 'x'", "no value"});
  ctx.parallel_for(a.shape(), a.write())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) = 1; };
  ctx.repeat(2, [&] { ctx.parallel_for(exec_place::device(1), a.shape(), a.rw())->*add_one(); });
  ctx.finalize();
  CHECK(x == std::vector<int>(80, 3));
}

}  // namespace
}  // namespace starling::test::stf_persistent_tests
