// Tasks that are recorded once and launched many times, and loops of them: the values are those of submitting them
// again, whatever happens between the launches.
#include <atomic>
#include <optional>
#include <thread>

#include "starling/stf/context.hpp"
#include "starling/stf/task_run.hpp"
#include "support/repetitions.hpp"
#include "support/stf/adding_tasks.hpp"
#include "support/task_program.hpp"
#include "support/test_machine.hpp"

namespace starling::test::recorded_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::recorded_tasks;
using stf::scalar_view;
using stf::slice;

constexpr backend_kind back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::automatic};

void copy_all(stream& s, slice<const int> x, slice<int> y) {
  s.copy(y.data_handle(), x.data_handle(), static_cast<std::size_t>(x.extent(0)) * sizeof(int));
}

TEST_CASE("recorded tasks do nothing until they are launched") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends) {
    std::vector<int> x(100, 1), y(100, 0);
    context ctx(*m, {.backend = backend});
    auto a = ctx.logical_data(x);
    auto b = ctx.logical_data(y);
    int calls = 0;
    const recorded_tasks r = ctx.record([&] {
      ++calls;
      ctx.task(exec_place::device(1), a.rw())->*add_one;
      ctx.task(exec_place::device(0), a.read(), b.rw())->*add_all;
    });
    CHECK(r.operations() >= 2);
    CHECK(ctx.wait(b)(0) == 0);
    CHECK(ctx.wait(a)(99) == 1);
    r.launch(0);
    CHECK(ctx.wait(a)(99) == 1);
    r.launch();
    CHECK(ctx.wait(a)(99) == 2);
    CHECK(ctx.wait(b)(5) == 2);
    // Between launches others change the data, elsewhere.
    ctx.task(exec_place::device(0), a.rw())->*[](stream& s, slice<int> v) { add(s, 10, v); };
    r.launch(2);
    ctx.host_launch(a.rw())->*[](slice<int> v) { v(0) = 100; };
    r.launch(1);
    ctx.finalize();
    CHECK(calls == 1);
    // a: 2, 12, 13, 14, then 100 or 14, 15.  b: 2 + 13 + 14 + 101 or 15.
    CHECK(x[0] == 101);
    CHECK(x[1] == 15);
    CHECK(y[0] == 2 + 13 + 14 + 101);
    CHECK(y[1] == 2 + 13 + 14 + 15);
    CHECK(ctx.statistics().recordings == 1);
    CHECK(ctx.statistics().launches == 4);
  }
}

TEST_CASE("random programs, recorded and launched among other tasks") {
  random r(31);
  for (const auto backend : back_ends)
    for (int n_pes = 1; n_pes <= 4; ++n_pes)
      for (int i = 0; i < repetitions(8); ++i) {
        const auto m = test_machine(n_pes);
        if (!m) continue;
        const int data = 2 + static_cast<int>(r.below(5));
        const task_program first = random_task_program(r, n_pes, data, 1 + static_cast<int>(r.below(8)));
        task_program second = random_task_program(r, n_pes, data, 1 + static_cast<int>(r.below(8)));
        task_program between = random_task_program(r, n_pes, data, 12);
        second.length = between.length = first.length;
        task_values expected = random_task_values(r, first);
        task_values values = expected;
        INFO("seed " << r.seed << ", back end " << static_cast<int>(backend) << ", " << n_pes << " devices, program "
                     << i << "\n"
                     << first.text() << "--\n"
                     << second.text() << "--\n"
                     << between.text());
        context ctx(*m, {.backend = backend, .device_memory = r.below(2) == 0 ? 0 : std::size_t{8} * 1024});
        std::vector<stf::logical_data<int_slice>> all;
        for (auto& v : values) all.push_back(ctx.logical_data(v));
        const auto place_of_step = [&](const task_step& s) {
          return i % 3 == 2 && s.place != task_step::on_host && s.target_place == task_step::affine
                     ? exec_place::automatic()
                     : place_of(s);
        };
        const auto submit_all = [&](const task_program& p) {
          for (const task_step& s : p.steps) submit(ctx, s, all, place_of_step(s));
        };
        const recorded_tasks one = ctx.record([&] { submit_all(first); });
        std::optional<recorded_tasks> two;
        std::size_t next = 0;
        for (int step = 0; step < 16; ++step) {
          const auto what = r.below(6);
          const auto times = static_cast<std::uint64_t>(r.below(4));
          if (what == 0) {
            one.launch(times);
            for (std::uint64_t k = 0; k < times; ++k) run_in_order(first, expected);
          } else if (what == 1) {
            if (!two || step == 9) two = ctx.record([&] { submit_all(second); });
            two->launch(times);
            for (std::uint64_t k = 0; k < times; ++k) run_in_order(second, expected);
          } else if (what == 2) {
            ctx.repeat(times, [&] { submit_all(second); });
            for (std::uint64_t k = 0; k < times; ++k) run_in_order(second, expected);
          } else if (what == 3) {
            ctx.fence();
          } else {
            const task_step& s = between.steps[next++ % between.steps.size()];
            submit(ctx, s, all, place_of_step(s));
            run_in_order({data, first.length, {s}}, expected);
          }
        }
        all.clear();
        ctx.finalize();
        CHECK(values == expected);
      }
}

TEST_CASE("temporary data, reductions and memory of the user within the body") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends) {
    std::vector<int> x(300, 1), y(300, 1), z(300, 0);
    int sum = 0;
    int other = 0;
    context ctx(*m, {.backend = backend});
    auto a = ctx.logical_data(x);
    auto b = ctx.logical_data(y);
    auto total = ctx.logical_data(scalar_view<int>(&sum));
    auto second = ctx.logical_data(scalar_view<int>(&other));
    const auto sum_of = [&](const stf::logical_data<slice<int>>& from, const stf::logical_data<scalar_view<int>>& to) {
      ctx.parallel_for(exec_place::all_devices(), from.shape(), from.read(), to.reduce(stf::reducer::sum()))
              ->*STARLING_KERNEL(index_t i, slice<const int> v, int& s) {
        s += v(i);
      };
    };
    const recorded_tasks r = ctx.record([&] {
      auto t = ctx.logical_data(stf::shape_of<slice<int>>(300));
      ctx.task(exec_place::device(1), a.read(), t.write())->*copy_all;
      ctx.task(exec_place::device(0), t.rw())->*add_one;
      ctx.task(exec_place::device(1), t.read(), a.write())->*copy_all;
      sum_of(a, total);
      // Comes and goes with the body: each launch finds and leaves its value in the user's memory.
      auto own = ctx.logical_data(z);
      ctx.task(exec_place::device(1), own.rw())->*[](stream& s, slice<int> v) { add(s, 3, v); };
    });
    for (int k = 1; k <= 5; ++k) {
      r.launch();
      // Others use as much memory meanwhile.
      auto t = ctx.logical_data(stf::shape_of<slice<int>>(300));
      ctx.task(exec_place::device(1), t.write())->*[](stream& s, slice<int> v) {
        s.fill(v.data_handle(), 0xff, static_cast<std::size_t>(v.extent(0)) * sizeof(int));
      };
      sum_of(b, second);
      CHECK(ctx.wait(total) == 300 * (k + 1));
      CHECK(ctx.wait(second) == 300);
    }
    ctx.finalize();
    CHECK(x == std::vector<int>(300, 6));
    CHECK(z == std::vector<int>(300, 15));
    CHECK(sum == 1800);
  }
}

TEST_CASE("data that the body makes and leaves") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends) {
    std::vector<int> x(64, 1);
    context ctx(*m, {.backend = backend});
    auto a = ctx.logical_data(x);
    stf::logical_data<slice<int>> made;
    stf::token order;
    const recorded_tasks r = ctx.record([&] {
      made = ctx.logical_data(stf::shape_of<slice<int>>(64));
      order = ctx.token();
      ctx.task(exec_place::device(1), a.rw(), order.rw())->*[](stream& s, slice<int> v) { add(s, 1, v); };
      ctx.task(exec_place::device(1), a.read(), made.write(), order.read())
              ->*[](stream& s, slice<const int> from, slice<int> to) { copy_all(s, from, to); };
    });
    // It has no value before the first launch.
    CHECK_THROWS_AS((void)ctx.wait(made), argument_error);
    r.launch(3);
    CHECK(ctx.wait(made)(7) == 4);
    ctx.task(made.rw())->*add_one;
    CHECK(ctx.wait(made)(7) == 5);
    r.launch();
    CHECK(ctx.wait(made)(7) == 5);
    ctx.finalize();
    CHECK(x == std::vector<int>(64, 5));
  }
}

TEST_CASE("a loop of a given length calls its body once") {
  const auto m = test_machine(3);
  if (!m) return;
  for (const auto backend : back_ends) {
    std::vector<int> x(100, 0), y(100, 0);
    context ctx(*m, {.backend = backend});
    auto a = ctx.logical_data(x);
    auto b = ctx.logical_data(y);
    int calls = 0;
    std::atomic<int> host_calls{0};
    ctx.task(a.rw())->*add_one;
    ctx.repeat(10, [&] {
      ++calls;
      ctx.task(exec_place::device(1), a.rw())->*add_one;
      ctx.task(exec_place::device(2), a.read(), b.rw())->*add_all;
      ctx.host_launch(b.read())->*[&host_calls](slice<const int>) { ++host_calls; };
    });
    ctx.repeat(0, [&] { ++calls; });
    ctx.task(exec_place::device(2), a.rw())->*add_one;
    ctx.finalize();
    CHECK(calls == 1);
    CHECK(host_calls == 10);
    CHECK(x == std::vector<int>(100, 12));
    CHECK(y == std::vector<int>(100, 65));
  }
}

TEST_CASE("loops within recordings") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<int> x(40, 0), y(40, 0);
  context ctx(*m);
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  ctx.repeat(4, [&] {
    ctx.repeat(3, [&] { ctx.task(exec_place::device(1), a.rw())->*add_one; });
    ctx.task(a.read(), b.rw())->*add_all;
  });
  ctx.finalize();
  CHECK(x == std::vector<int>(40, 12));
  CHECK(y == std::vector<int>(40, 3 + 6 + 9 + 12));
}

// Counts to `end`; the flag is of another type each time.
template <class T>
void check_while(machine m, backend_kind backend, int end, std::uint64_t most, exec_place where) {
  std::vector<int> x(100, 0);
  T flag = 0;
  context ctx(m, {.backend = backend});
  auto a = ctx.logical_data(x);
  auto again = ctx.logical_data(scalar_view<T>(&flag));
  ctx.repeat_while(
      again,
      [&] {
        ctx.parallel_for(where, a.shape(), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1; };
        ctx.parallel_for(where, stf::box(1), a.read(), again.write())
                ->*STARLING_KERNEL(index_t, slice<const int> v, scalar_view<T> f) {
          *f = v(0) < end ? static_cast<T>(T(1) << (8 * (sizeof(T) - 1) % 7)) : T(0);
        };
      },
      most);
  ctx.task(a.rw())->*[](stream& s, slice<int> v) { add(s, 1000, v); };
  ctx.finalize();
  const int rounds = std::min(static_cast<int>(most), std::max(end, 1));
  CHECK(x == std::vector<int>(100, 1000 + rounds));
  CHECK((flag != 0) == (rounds < end));
}

TEST_CASE("a loop goes on while its flag is set") {
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : back_ends)
      for (const int end : {0, 1, 2, 7}) {
        const exec_place where = exec_place::device(n_pes - 1);
        check_while<int>(*m, backend, end, 100, where);
        check_while<bool>(*m, backend, end, 100, where);
        check_while<std::int64_t>(*m, backend, end, 100, exec_place::automatic());
        check_while<std::uint16_t>(*m, backend, end, 3, where);
        check_while<int>(*m, backend, end, 1, exec_place::host());
      }
  }
}

TEST_CASE("other threads wait until tasks are recorded") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends) {
    std::vector<std::vector<int>> x(3, std::vector<int>(60, 0));
    context ctx(*m, {.backend = backend});
    std::vector<std::thread> running;
    for (auto& v : x)
      running.emplace_back([&] {
        auto d = ctx.logical_data(v);
        for (int i = 0; i < 10; ++i) {
          ctx.task(exec_place::device(i % 2), d.rw())->*add_one;
          const recorded_tasks r = ctx.record([&] {
            std::this_thread::yield();
            ctx.task(exec_place::device(1), d.rw())->*add_one;
          });
          r.launch(2);
          if (i % 3 == 0) ctx.synchronize();
        }
      });
    for (auto& t : running) t.join();
    ctx.finalize();
    for (const auto& v : x) CHECK(v == std::vector<int>(60, 30));
  }
}

TEST_CASE("a recording may outlive its context's work, data and handles") {
  const auto m = test_machine(1);
  if (!m) return;
  std::vector<int> x(20, 0);
  recorded_tasks kept;
  {
    context ctx(*m);
    {
      auto a = ctx.logical_data(x);
      kept = ctx.record([&] { ctx.task(a.rw())->*add_one; });
    }
    kept.launch(3);
    const recorded_tasks copy = kept;
    copy.launch();
    ctx.finalize();
    CHECK(x == std::vector<int>(20, 4));
  }
  CHECK_THROWS_AS(kept.launch(), argument_error);
  CHECK(x == std::vector<int>(20, 4));
}

}  // namespace
}  // namespace starling::test::recorded_tests
