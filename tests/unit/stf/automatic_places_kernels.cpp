// Places that the context chooses: results are those of the sequential loop, independent work spreads, work stays where
// its data is, and the choice can be explained.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "starling/stf/context.hpp"
#include "starling/stf/task_run.hpp"
#include "support/repetitions.hpp"
#include "support/task_program.hpp"
#include "support/test_machine.hpp"

namespace starling::test::automatic_places_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;

std::vector<stf::backend_kind> back_ends() { return {stf::backend_kind::stream, stf::backend_kind::graph}; }

void add_one(stream& s, slice<int> x) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) += 1; }); });
}

TEST_CASE("random tasks where the context wants them") {
  random r(11);
  for (const auto backend : back_ends())
    for (int n_pes = 1; n_pes <= 4; ++n_pes)
      for (int i = 0; i < repetitions(10); ++i) {
        const auto m = test_machine(n_pes);
        if (!m) continue;
        const task_program p = random_task_program(r, n_pes, 2 + static_cast<int>(r.below(6)), 40);
        task_values expected = random_task_values(r, p);
        task_values values = expected;
        run_in_order(p, expected);
        INFO("seed " << r.seed << ", " << n_pes << " devices\n" << p.text());
        context ctx(*m, {.backend = backend});
        std::vector<stf::logical_data<int_slice>> data;
        for (auto& v : values) data.push_back(ctx.logical_data(v));
        int number = 0;
        for (const task_step& s : p.steps) {
          // Some keep the place of the program.
          if (s.place == task_step::on_host || ++number % 5 == 0)
            submit(ctx, s, data);
          else
            submit(ctx, s, data, exec_place::automatic());
          if (number % 9 == 0) ctx.fence();
          if (number % 17 == 0) ctx.synchronize();
        }
        ctx.finalize();
        CHECK(values == expected);
      }
}

// How many tasks each device had, over all classes.
std::vector<std::uint64_t> tasks_by_device(const context& ctx) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ctx.on().size()), 0);
  for (const auto& c : ctx.statistics().classes)
    for (const auto& d : c.devices) all[static_cast<std::size_t>(d.pe)] += d.chosen;
  return all;
}

TEST_CASE("independent work spreads over all devices") {
  const auto m = test_machine(4);
  if (!m) return;
  for (const auto backend : back_ends()) {
    context ctx(*m, {.backend = backend});
    std::vector<std::vector<int>> x(32, std::vector<int>(1000, 1));
    std::vector<stf::logical_data<slice<int>>> d;
    for (auto& v : x) d.push_back(ctx.logical_data(v));
    for (auto& one : d) ctx.task(exec_place::automatic(), one.rw()).set_symbol("add")->*add_one;
    ctx.finalize();
    for (const auto& v : x) CHECK(v == std::vector<int>(1000, 2));
    for (const std::uint64_t n : tasks_by_device(ctx)) CHECK(n >= 2);
  }
}

// Work that takes long everywhere: what is measured cannot make other devices look better than moving costs.
TEST_CASE("chains stay where their data is") {
  const auto m = test_machine(3);
  if (!m) return;
  context ctx(*m);
  std::vector<std::vector<int>> x(3, std::vector<int>(1 << 18, 0));
  std::vector<stf::logical_data<slice<int>>> d;
  for (auto& v : x) d.push_back(ctx.logical_data(v));
  const auto step = [&](auto& one) { ctx.task(exec_place::automatic(), one.rw()).set_symbol("step")->*add_one; };
  // Every device has been tried by then.
  for (int i = 0; i < 4; ++i)
    for (auto& one : d) step(one);
  for (const auto& c : ctx.statistics().classes)
    for (const auto& on : c.devices) CHECK(on.explored == 2);
  ctx.synchronize();
  // One chain alone: the device that has its data ends it first, whatever the others are doing.
  step(d[0]);
  const std::uint64_t copies = ctx.statistics().copies;
  for (int i = 0; i < 20; ++i) {
    step(d[0]);
    ctx.synchronize();
  }
  CHECK(ctx.statistics().copies - copies <= 2);
  ctx.finalize();
  CHECK(x[0] == std::vector<int>(1 << 18, 25));
  CHECK(x[1] == std::vector<int>(1 << 18, 4));
}

TEST_CASE("loops, launches and tasks with a fixed instance take a place too") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<int> x(500, 1);
  int sum = 0;
  context ctx(*m, {.drawing = true});
  auto d = ctx.logical_data(x);
  auto total = ctx.logical_data(stf::scalar_view<int>(&sum));
  ctx.parallel_for(exec_place::automatic(), d.shape(), d.rw())->*STARLING_KERNEL(index_t i, slice<int> v) {
    v(i) += 2;
  };
  ctx.task(exec_place::automatic(), d.rw(stf::data_place::device(1)))->*add_one;
  ctx.parallel_for(exec_place::automatic(), d.shape(), d.read(), total.reduce(stf::reducer::sum()))
          ->*STARLING_KERNEL(index_t i, slice<const int> v, int& s) {
    s += v(i);
  };
  const auto spec = stf::par(stf::con<32>());
  ctx.launch(spec, exec_place::automatic(), d.rw())
          ->*STARLING_KERNEL(stf::thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<int> v) {
    for (auto [i] : th.apply_partition(stf::shape(v))) v(i) *= 2;
  };
  ctx.finalize();
  CHECK(x == std::vector<int>(500, 8));
  CHECK(sum == 2000);
  CHECK(ctx.dot().find("device 0, automatic: explores") != std::string::npos);
}

TEST_CASE("the choice is explained") {
  const auto m = test_machine(2);
  if (!m) return;
  context ctx(*m);
  CHECK(ctx.explain().empty());
  std::vector<int> x(1000, 0), y(10, 0);
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  for (int i = 0; i < 10; ++i) {
    ctx.task(exec_place::automatic(), a.rw()).set_symbol("large")->*add_one;
    ctx.task(exec_place::automatic(), b.rw()).set_symbol("large")->*add_one;
    ctx.task(exec_place::automatic(), a.rw())->*add_one;
    ctx.task(exec_place::automatic(), a.rw())->*[](stream& s, slice<int> v) { add_one(s, v); };
    ctx.synchronize();
  }
  ctx.task(exec_place::automatic(), b.rw()).set_symbol("large")->*add_one;
  const stf::statistics now = ctx.statistics();
  // By name and size; bodies by their type.
  REQUIRE(now.classes.size() == 4);
  CHECK(now.classes[0].name == "large");
  CHECK(now.classes[0].most_bytes == 4095);
  CHECK(now.classes[1].name == "large");
  CHECK(now.classes[1].most_bytes == 63);
  CHECK(now.classes[3].name.find("lambda") != std::string::npos);
  for (const auto& c : now.classes) {
    CAPTURE(c.name);
    REQUIRE(c.devices.size() == 2);
    CHECK(c.devices[0].chosen + c.devices[1].chosen >= 10);
    // Schedules of check mode have no times.
    CHECK(c.devices[0].samples + c.devices[1].samples >= (m->checking() ? 0u : 4u));
    for (const auto& d : c.devices) CHECK((d.samples == 0 || d.seconds > 0));
  }
  const std::string text = ctx.explain();
  CHECK(text.find("task 'large', up to 63 B") != std::string::npos);
  CHECK(text.find("device 1 had ") != std::string::npos);
  CHECK(text.find(m->checking() ? "not measured" : "samples") != std::string::npos);
  ctx.finalize();
  CHECK(x == std::vector<int>(1000, 30));
  CHECK(y == std::vector<int>(10, 11));
}

TEST_CASE("names that never come again") {
  const auto m = test_machine(2);
  if (!m || m->checking()) return;
  std::vector<int> x(30, 0);
  context ctx(*m);
  auto d = ctx.logical_data(x);
  const int tasks = 1500;
  for (int i = 0; i < tasks; ++i)
    ctx.task(exec_place::automatic(), d.rw()).set_symbol("step " + std::to_string(i))->*add_one;
  ctx.finalize();
  CHECK(x == std::vector<int>(30, tasks));
  CHECK(ctx.statistics().classes.size() <= 1025);
  CHECK(ctx.statistics().classes.back().name == "all others");
}

TEST_CASE("several threads leave their places to the context") {
  const auto m = test_machine(3);
  if (!m) return;
  std::vector<std::vector<int>> x(4, std::vector<int>(100, 0));
  context ctx(*m);
  std::vector<std::thread> running;
  for (auto& v : x)
    running.emplace_back([&] {
      auto d = ctx.logical_data(v);
      for (int i = 0; i < 50; ++i) ctx.task(exec_place::automatic(), d.rw())->*add_one;
    });
  for (auto& t : running) t.join();
  ctx.finalize();
  for (const auto& v : x) CHECK(v == std::vector<int>(100, 50));
}

TEST_CASE("with little memory") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<std::vector<int>> x(10, std::vector<int>(192, 0));
  context ctx(*m, {.device_memory = 3 * 768});
  std::vector<stf::logical_data<slice<int>>> d;
  for (auto& v : x) d.push_back(ctx.logical_data(v));
  for (int i = 0; i < 100; ++i)
    ctx.task(exec_place::automatic(), d[static_cast<std::size_t>(i * 7 % 10)].rw())->*add_one;
  ctx.finalize();
  for (const auto& v : x) CHECK(v == std::vector<int>(192, 10));
}

}  // namespace
}  // namespace starling::test::automatic_places_tests
