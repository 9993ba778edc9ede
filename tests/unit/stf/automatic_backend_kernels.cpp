// Contexts that choose between streams and graphs: the values are right whatever they choose, and the choice settles.
#include <thread>

#include "starling/stf/context.hpp"
#include "starling/stf/task_run.hpp"
#include "support/task_program.hpp"
#include "support/test_machine.hpp"

namespace starling::test::automatic_backend_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::slice;

void add_one(stream& s, slice<int> x) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) += 1; }); });
}

TEST_CASE("random tasks in a context that chooses") {
  random r(21);
  for (int n_pes = 1; n_pes <= 4; ++n_pes)
    for (int i = 0; i < 10; ++i) {
      const auto m = test_machine(n_pes);
      if (!m) continue;
      const task_program p = random_task_program(r, n_pes, 2 + static_cast<int>(r.below(5)), 6);
      task_values expected = random_task_values(r, p);
      task_values values = expected;
      const int rounds = 30;
      for (int k = 0; k < rounds; ++k) run_in_order(p, expected);
      INFO("seed " << r.seed << ", " << n_pes << " devices\n" << p.text());
      context ctx(*m, {.backend = backend_kind::automatic});
      std::vector<stf::logical_data<int_slice>> data;
      for (auto& v : values) data.push_back(ctx.logical_data(v));
      const auto ending = r.below(3);
      for (int k = 0; k < rounds; ++k) {
        for (const task_step& s : p.steps) submit(ctx, s, data, i % 2 == 0 ? place_of(s) : exec_place::automatic());
        // Now and then somebody looks.
        if (ending == 0 && k % 7 == 6)
          (void)ctx.wait(data[0]);
        else if (ending == 1 && k % 5 == 4)
          ctx.synchronize();
        else
          ctx.fence();
      }
      ctx.finalize();
      CHECK(values == expected);
      CHECK(ctx.statistics().epochs >= rounds);
    }
}

TEST_CASE("the choice settles and is explained") {
  const auto m = test_machine(2);
  if (!m || m->checking()) return;
  std::vector<int> x(100, 0), y(100, 0);
  context ctx(*m, {.backend = backend_kind::automatic});
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  const int rounds = 40;
  for (int k = 0; k < rounds; ++k) {
    for (int i = 0; i < 5; ++i) {
      ctx.task(exec_place::device(0), a.rw())->*add_one;
      ctx.task(exec_place::device(1), b.rw())->*add_one;
    }
    ctx.fence();
    ctx.synchronize();  // so that the times are there
  }
  const stf::statistics now = ctx.statistics();
  ctx.finalize();
  CHECK(x == std::vector<int>(100, 5 * rounds));
  CHECK(y == std::vector<int>(100, 5 * rounds));
  // A wait alone is no epoch.
  REQUIRE(now.epoch_classes.size() == 1);
  const stf::epoch_class_usage& e = now.epoch_classes[0];
  CHECK(e.tasks == 10);
  CHECK(e.settled);
  CHECK(e.refused.empty());
  CHECK(e.on_streams.epochs + e.as_graph.epochs == rounds);
  CHECK(e.on_streams.seconds > 0);
  CHECK(e.as_graph.seconds > 0);
  CHECK((e.as_graph.seconds < e.on_streams.seconds) == (e.chosen == backend_kind::graph));
  CHECK((e.chosen == backend_kind::graph ? e.as_graph : e.on_streams).epochs == rounds - 4);
  CHECK(now.graphs_reused >= 2);
  const std::string text = stf::explain(now);
  CHECK(text.find("epochs of 10 tasks: streams had ") != std::string::npos);
  CHECK(text.find("which is faster") != std::string::npos);
}

// Memory that is refused while a graph is recorded is asked for again on streams, which could wait for some.
TEST_CASE("epochs that a graph has no memory for go on with streams") {
  if (skipped_on_gpus("can be made to refuse memory")) return;
  machine m = machine::host(2);
  if (m.checking()) return;
  std::vector<int> x(100, 0), y(4096, 0);
  context ctx(m, {.backend = backend_kind::automatic});
  auto a = ctx.logical_data(x);
  for (int k = 0; k < 30; ++k) {
    ctx.task(a.rw())->*add_one;
    if (k % 2 == 1) {
      auto b = ctx.logical_data(y);
      // The first epoch of its kind that becomes a graph.
      if (k == 9) m.inject({{fail_allocation{.nth = 1, .times = 1}}});
      ctx.parallel_for(exec_place::all_devices(), b.shape(), a.read(), b.rw())
              ->*STARLING_KERNEL(index_t i, slice<const int>, slice<int> v) {
        v(i) += 1;
      };
    }
    ctx.fence();
    ctx.synchronize();
  }
  bool found = false;
  for (const auto& e : ctx.statistics().epoch_classes) found = found || !e.refused.empty();
  CHECK(found);
  CHECK(m.faults_fired().at(0).times == 1);
  ctx.finalize();
  CHECK(x == std::vector<int>(100, 30));
  CHECK(y == std::vector<int>(4096, 15));
}

TEST_CASE("a body that throws while it is recorded is left to streams") {
  const auto m = test_machine(1);
  if (!m || m->checking()) return;
  std::vector<int> x(50, 0), y(50, 0);
  context ctx(*m, {.backend = backend_kind::automatic});
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  int thrown = 0;
  const int rounds = 30;
  for (int k = 0; k < rounds; ++k) {
    ctx.task(a.rw())->*add_one;
    try {
      // As a library would that must not be recorded.
      ctx.task(b.write()).set_symbol("picky")->*[](stream& s, slice<int> v) {
        s.synchronize();
        s.fill(v.data_handle(), 1, static_cast<std::size_t>(v.extent(0)) * sizeof(int));
      };
    } catch (const argument_error&) {
      ++thrown;
    }
    ctx.fence();
    ctx.synchronize();
  }
  CHECK(thrown == 1);
  bool found = false;
  for (const auto& e : ctx.statistics().epoch_classes)
    found = found || e.refused == "task 'picky' threw while it was recorded";
  CHECK(found);
  CHECK(ctx.explain().find("cannot be recorded: task 'picky'") != std::string::npos);
  ctx.finalize();
  CHECK(x == std::vector<int>(50, rounds));
  CHECK(y == std::vector<int>(50, 0x01010101));
}

TEST_CASE("several threads in a context that chooses") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<std::vector<int>> x(4, std::vector<int>(60, 0));
  context ctx(*m, {.backend = backend_kind::automatic});
  std::vector<std::thread> running;
  for (auto& v : x)
    running.emplace_back([&, device = static_cast<int>(&v - x.data()) % 2] {
      auto d = ctx.logical_data(v);
      for (int i = 0; i < 60; ++i) {
        ctx.task(exec_place::device(device), d.rw())->*add_one;
        if (i % 4 == 3) ctx.fence();
      }
    });
  for (auto& t : running) t.join();
  ctx.finalize();
  for (const auto& v : x) CHECK(v == std::vector<int>(60, 60));
}

}  // namespace
}  // namespace starling::test::automatic_backend_tests
