// Regions in tasks under many schedules: what is right passes, whatever the context and the agent, and mistakes are
// found.
#include "starling/region/tasks.hpp"
#include "support/checked.hpp"
#include "support/region_recurrence.hpp"

namespace starling::test::region_tasks_kernels_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::slice;
using word = std::uint64_t;

constexpr backend_kind back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::persistent};
constexpr region_agent agents[] = {region_agent::inline_stores, region_agent::polling, region_agent::copy_engine};

region_options small(region_agent agent, bool credits = false, int agent_blocks = 1) {
  return {.agent = agent,
          .chunk_bytes = 128,
          .tiles = region_mapping::one_to_one(11),
          .agent_blocks = agent_blocks,
          .credits = credits};
}

// The recurrence, and between epochs sums of what every PE sees.
void run_tasks(machine& m, index_t n, backend_kind backend, const region_options& options, word seed) {
  random r(seed);
  std::vector<word> start(static_cast<std::size_t>(n));
  for (auto& v : start) v = r.next();
  region<word> x(m, n, options);
  x.load(start);
  constexpr word epochs = 4;
  std::vector<word> sums(static_cast<std::size_t>(n), 0);
  context ctx(m, {.backend = backend});
  auto total = ctx.logical_data(sums);
  ctx.repeat(epochs, [&] {
    ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update())
            ->*STARLING_KERNEL(index_t i, region_step<word> v) {
      v.next(i) = next_of(v.old(i), v.old(far(i, n, 1)), v.old(far(i, n, 2)), i, v.epoch);
    };
    ctx.parallel_for(exec_place::device(m.size() - 1), total.shape(), x.read(), total.rw())
            ->*STARLING_KERNEL(index_t i, region_view<word> v, slice<word> to) {
      to(i) += v(far(i, n, 3));
    };
  });
  ctx.finalize();
  for (int pe = 0; pe < m.size(); ++pe) {
    std::vector<word> got(start.size(), 1);
    x.read(pe, epochs, got);
    CHECK(got == by_loop(start, epochs));
  }
  std::vector<word> expected(sums.size(), 0);
  for (word e = 1; e <= epochs; ++e) {
    const auto values = by_loop(start, e);
    for (index_t i = 0; i < n; ++i)
      expected[static_cast<std::size_t>(i)] += values[static_cast<std::size_t>(far(i, n, 3))];
  }
  CHECK(sums == expected);
}

TEST_CASE("recurrences in tasks pass, every context and agent") {
  random r(52);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3})
    for (const backend_kind backend : back_ends)
      for (const region_agent agent : agents)
        for (const bool credits : {false, true}) {
          // Persistent programs have no copies of engines.
          if (agent == region_agent::copy_engine && backend == backend_kind::persistent) continue;
          CAPTURE(pes);
          CAPTURE(static_cast<int>(backend));
          CAPTURE(std::string(name(agent)));
          CAPTURE(credits);
          machine m = checked_machine(pes, 30);
          run_tasks(m, 70, backend, small(agent, credits, 1 + static_cast<int>(r.below(2))), r.next());
        }
}

TEST_CASE("a small case under many schedules") {
  for (const region_agent agent : agents) {
    CAPTURE(std::string(name(agent)));
    machine m = checked_machine(2, 1000);
    run_tasks(m, 40, backend_kind::stream, small(agent), 5);
  }
}

enum class mistake { none, leaves_element_out, stores_outside, reads_outside, reads_undeclared, stores_to_peer };

void run_with(machine& m, mistake wrong, region_agent agent) {
  constexpr index_t n = 64;
  region<int> x(m, n, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(8)});
  x.load(std::vector<int>(n, 1));
  const region_handle<int> h = x.handle();
  context ctx(m);
  auto sum = ctx.logical_data(stf::shape_of<slice<int>>(n));
  for (int e = 0; e < 2; ++e)
    ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update())
            ->*STARLING_KERNEL(index_t i, region_step<int> v) {
      if (wrong == mistake::leaves_element_out && i == 9) return;
      v.next(i) = v.old(i) + v.old(wrong == mistake::reads_outside && i == 9 ? n : (i + n / 2) % n);
      if (wrong == mistake::stores_outside && i == 9) v.next((i + n / 2) % n) = 0;
    };
  if (wrong == mistake::reads_undeclared) {
    ctx.parallel_for(exec_place::device(1), sum.shape(), sum.write())->*STARLING_KERNEL(index_t i, slice<int> s) {
      s(i) = h.values().on(1)[i];
    };
  } else {
    ctx.parallel_for(exec_place::device(1), sum.shape(), x.read(), sum.write())
            ->*STARLING_KERNEL(index_t i, region_view<int> v, slice<int> s) {
      s(i) = v(i);
      if (wrong == mistake::stores_to_peer && i == 9) h.values().on(0)[i] = 3;
    };
    auto other = ctx.logical_data(stf::shape_of<slice<int>>(n));  // so that nothing orders the two loops
    ctx.parallel_for(exec_place::device(0), other.shape(), x.read(), other.write())
            ->*STARLING_KERNEL(index_t i, region_view<int> v, slice<int> s) {
      s(i) = v(i);
    };
  }
  ctx.finalize();
}

TEST_CASE("mistakes in tasks on regions") {
  for (const region_agent agent : agents) {
    CAPTURE(std::string(name(agent)));
    const auto run = [&](mistake wrong) {
      return [wrong, agent] {
        machine m = checked_machine(2);
        run_with(m, wrong, agent);
      };
    };
    run(mistake::none)();
    check_parts(failure_of<region_error>(run(mistake::leaves_element_out)),
                {"element 9 was not stored in epoch 1", "region_tasks_kernels.cpp:", "PE 0"});
    check_parts(failure_of<region_error>(run(mistake::stores_outside)),
                {"stored to element 41, which this tile does not write", "region_tasks_kernels.cpp:"});
    check_parts(failure_of<region_error>(run(mistake::reads_outside)),
                {"element 64 of a region with 64", "region_tasks_kernels.cpp:"});
    if (const auto e = finding_of(run(mistake::reads_undeclared)))
      check_parts(e->what(), {"unordered", "region_tasks_kernels.cpp:"});
    if (const auto e = finding_of(run(mistake::stores_to_peer)))
      check_parts(e->what(), {"plain access to another PE", "region_tasks_kernels.cpp:"});
  }
}

}  // namespace
}  // namespace starling::test::region_tasks_kernels_tests
