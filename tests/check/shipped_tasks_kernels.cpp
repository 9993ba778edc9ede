// Task flow passes check mode: random programs of tasks on streams and graphs, on one to four devices, with caps that
// make data move away, with data that is destroyed while its tasks wait, loops over all devices and reductions; with
// the values of the sequential loop. STARLING_PROTOCOL_SEEDS: how many schedules each program is explored under.
#include <cstdlib>

#include "support/checked.hpp"
#include "support/task_program.hpp"

namespace starling::test::shipped_tasks_kernels_tests {
namespace {

using stf::context;
using stf::exec_place;

std::uint64_t seeds() {
  const char* text = std::getenv("STARLING_PROTOCOL_SEEDS");
  return text == nullptr ? 24 : std::strtoull(text, nullptr, 10);
}

constexpr stf::backend_kind back_ends[] = {stf::backend_kind::stream, stf::backend_kind::graph,
                                           stf::backend_kind::automatic};
constexpr int data_of_program = 5;

// Small and large, so that memory is reused in pieces.
task_program program_for(random& r, int n_pes, int steps) {
  task_program p = random_task_program(r, n_pes, data_of_program, steps);
  p.length = 1 + r.below(40);
  return p;
}

// Some handles go while their tasks wait, and come again after the value has; temporaries come and go.
void run_with_ends(random& r, const task_program& p, context& ctx, int n_pes, task_values& values, int epoch) {
  std::vector<stf::logical_data<int_slice>> data;
  for (auto& v : values) data.push_back(ctx.logical_data(v));
  int submitted = 0;
  for (const task_step& s : p.steps) {
    submit(ctx, s, data);
    if (r.below(3) == 0) {
      auto temporary = ctx.logical_data(stf::shape_of<int_slice>(p.length));
      const auto place = exec_place::device(static_cast<int>(r.below(n_pes)));
      ctx.task(place, temporary.write())->*[](stream& w, int_slice t) { w.launch(2, step_kernel{t}); };
      if (r.below(2) == 0)
        ctx.task(place, temporary.rw())->*[](stream& w, int_slice t) { w.launch(1, step_kernel{t, {}, true, 3, 0}); };
    }
    if (epoch > 0 && ++submitted % epoch == 0) ctx.fence();
    if (r.below(10) == 0) {
      auto& gone = data[static_cast<std::size_t>(r.below(data_of_program))];
      const auto which = static_cast<std::size_t>(&gone - data.data());
      gone = {};
      ctx.task()->*[](stream&) {};
      ctx.synchronize();
      gone = ctx.logical_data(values[which]);
    }
  }
  while (!data.empty()) data.erase(data.begin() + r.below(static_cast<index_t>(data.size())));
  ctx.finalize();
}

void check_programs(std::uint64_t first, stf::backend_kind backend, std::size_t cap, int programs, int steps) {
  random r(first);
  for (int n_pes = 1; n_pes <= 4; ++n_pes)
    for (int i = 0; i < programs; ++i) {
      const task_program p = program_for(r, n_pes, steps);
      task_values expected = random_task_values(r, p);
      task_values values = expected;
      run_in_order(p, expected);
      machine m = checked_machine(n_pes, seeds());
      INFO("seed " << r.seed << ", " << n_pes << " devices, cap " << cap << "\n" << p.text());
      try {
        context ctx(m, {.backend = backend, .device_memory = cap});
        run_with_ends(r, p, ctx, n_pes, values, static_cast<int>(r.below(6)));
      } catch (const check_error& e) {
        FAIL_CHECK(e.what());
      }
      CHECK(values == expected);
      CHECK(m.checked().accesses_seen);
      CHECK(m.checked().schedules >= seeds());
    }
}

TEST_CASE("random tasks") {
  for (const auto backend : back_ends) check_programs(1, backend, 0, 3, 15);
}

TEST_CASE("random tasks with little memory") {
  // Three data of the largest size fit, which one task may need.
  for (const auto backend : back_ends) check_programs(2, backend, 3 * 512, 3, 15);
}

// Every device writes its part of what the others read next; then a sum over all of it.
TEST_CASE("loops over all devices and reductions") {
  for (const auto backend : back_ends)
    for (int n_pes = 1; n_pes <= 4; ++n_pes) {
      constexpr index_t n = 60;
      machine m = checked_machine(n_pes, seeds());
      CAPTURE(n_pes);
      std::vector<std::int64_t> a(n), b(n, -1);
      for (index_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i)] = i;
      std::int64_t sum = 7;
      try {
        context ctx(m, {.backend = backend});
        auto lA = ctx.logical_data(a);
        auto lB = ctx.logical_data(b);
        auto total = ctx.logical_data(stf::scalar_view<std::int64_t>(&sum));
        const auto all = exec_place::all_devices();
        for (int t = 0; t < 2; ++t) {
          ctx.parallel_for(all, lB.shape(), lA.read(), lB.write())
                  ->*STARLING_KERNEL(index_t i, const_int_slice from, int_slice to) {
            to(i) = from(n - 1 - i) + 1;
          };
          ctx.parallel_for(stf::cyclic(), all, lA.shape(), lB.read(), lA.rw(),
                           total.reduce(stf::reducer::sum(), stf::no_init()))
                  ->*STARLING_KERNEL(index_t i, const_int_slice from, int_slice to, std::int64_t& s) {
            to(i) = from(i);
            s += from(i);
          };
        }
        ctx.finalize();
      } catch (const check_error& e) {
        FAIL_CHECK(e.what());
      }
      CHECK(sum == 7 + n * (n - 1) / 2 * 2 + n + 2 * n);
      CHECK(a[0] == 2);
      CHECK(m.checked().accesses_seen);
      CHECK(m.checked().schedules >= seeds());
    }
}

// Launches of recorded tasks and loops of them among other tasks.
TEST_CASE("recorded tasks and loops") {
  random r(5);
  for (const auto backend : back_ends)
    for (int n_pes = 1; n_pes <= 3; ++n_pes)
      for (int i = 0; i < 2; ++i) {
        const task_program p = program_for(r, n_pes, 6);
        task_program other = program_for(r, n_pes, 4);
        other.length = p.length;
        task_values expected = random_task_values(r, p);
        task_values values = expected;
        for (const int which : {0, 1, 0, 0, 1, 0, 0}) run_in_order(which == 0 ? p : other, expected);
        machine m = checked_machine(n_pes, seeds());
        INFO("seed " << r.seed << ", " << n_pes << " devices\n" << p.text() << "--\n" << other.text());
        std::int64_t rounds = 0;
        int flag = 1;
        try {
          context ctx(m, {.backend = backend});
          std::vector<stf::logical_data<int_slice>> data;
          for (auto& v : values) data.push_back(ctx.logical_data(v));
          auto count = ctx.logical_data(stf::scalar_view<std::int64_t>(&rounds));
          auto again = ctx.logical_data(stf::scalar_view<int>(&flag));
          const auto all = [&](const task_program& what) {
            for (const task_step& s : what.steps) submit(ctx, s, data);
          };
          const stf::recorded_tasks one = ctx.record([&] { all(p); });
          one.launch();
          all(other);
          one.launch(2);
          ctx.repeat(1, [&] { all(other); });
          // Two rounds.
          ctx.repeat_while(
              again,
              [&] {
                all(p);
                ctx.parallel_for(exec_place::device(n_pes - 1), stf::box(1), again.write(), count.rw())
                        ->*STARLING_KERNEL(index_t, stf::scalar_view<int> f, stf::scalar_view<std::int64_t> n) {
                  *n += 1;
                  *f = *n < 2 ? 1 : 0;
                };
              },
              9);
          ctx.finalize();
        } catch (const check_error& e) {
          FAIL_CHECK(e.what());
        }
        CHECK(values == expected);
        CHECK(rounds == 2);
        CHECK(flag == 0);
        CHECK(m.checked().schedules >= seeds());
      }
}

struct write_one {
  std::int64_t* to;
  std::int64_t value;
  STARLING_HD void operator()(block& b) const {
    if (b.member() == 0) *to = value;
  }
};

// A body that touches what its task did not name: found among launches as among tasks.
TEST_CASE("recorded tasks that hide what they use are found") {
  for (const bool named : {true, false}) {
    machine m = checked_machine(2, seeds());
    std::vector<std::int64_t> x(4, 0);
    const auto run = [&] {
      context ctx(m);
      auto shared = ctx.logical_data(stf::shape_of<int_slice>(4));
      auto own = ctx.logical_data(x);
      std::int64_t* hidden = nullptr;
      ctx.task(exec_place::device(0), shared.write())->*[&](stream& s, int_slice v) {
        hidden = v.data_handle();
        s.launch(1, write_one{hidden, 1});
      };
      const stf::recorded_tasks r = ctx.record([&] {
        const auto body = [&](stream& s) { s.launch(1, write_one{hidden, 2}); };
        if (named)
          ctx.task(exec_place::device(0), shared.rw(), own.rw())->*[&](stream& s, int_slice, int_slice) { body(s); };
        else
          ctx.task(exec_place::device(0), own.rw())->*[&](stream& s, int_slice) { body(s); };
      });
      ctx.synchronize();
      ctx.task(exec_place::device(0), shared.rw())->*[&](stream& s, int_slice) { s.launch(1, write_one{hidden, 3}); };
      r.launch();
      ctx.finalize();
    };
    if (named) {
      run();
      continue;
    }
    const auto e = finding_of(run);
    REQUIRE(e);
    CHECK(std::string(name(e->what_kind())) == std::string(name(defect::undeclared)));
  }
}

}  // namespace
}  // namespace starling::test::shipped_tasks_kernels_tests
