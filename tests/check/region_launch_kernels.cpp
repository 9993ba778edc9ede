// Launches that update a region under many schedules: what is right passes, whatever the agent, and mistakes are found.
// Blocks have as many threads as the hierarchy says.
#include "starling/region/tasks.hpp"
#include "support/checked.hpp"
#include "support/region_recurrence.hpp"

namespace starling::test::region_launch_kernels_tests {
namespace {

using stf::backend_kind;
using stf::con;
using stf::context;
using stf::exec_place;
using stf::par;
using stf::slice;
using word = std::uint64_t;

constexpr region_agent agents[] = {region_agent::inline_stores, region_agent::polling, region_agent::copy_engine};
constexpr int threads = 32;
// Two groups on each PE of two: more take longer.
constexpr auto spec = par(4, con<threads>(stf::mem(threads * sizeof(word))));
using hierarchy = stf::thread_hierarchy<decltype(spec)>;

// The recurrence, each value stored by another thread than has worked it out.
void run_tasks(machine& m, index_t n, backend_kind backend, const region_options& options, word seed) {
  random r(seed);
  std::vector<word> start(static_cast<std::size_t>(n));
  for (auto& v : start) v = r.next();
  region<word> x(m, n, options);
  x.load(start);
  constexpr word epochs = 3;
  std::vector<word> sums(static_cast<std::size_t>(n), 0);
  context ctx(m, {.backend = backend});
  auto total = ctx.logical_data(sums);
  ctx.repeat(epochs, [&] {
    ctx.launch(spec, exec_place::all_devices(), x.update())->*STARLING_KERNEL(hierarchy th, region_tiles<word> v) {
      const slice<word> made = th.storage<word>(1);
      const index_t me = th.inner().rank();
      v.each_tile([&](const tile& t, const tracked<word>& next) {
        for (int k = 0; k < t.count; ++k) {
          const index_range all = t.ranges[k];  // of at most as many elements as there are threads
          const index_t i = all.begin + me;
          if (i < all.end) made(me) = next_of(v.old(i), v.old(far(i, n, 1)), v.old(far(i, n, 2)), i, v.epoch);
          th.inner().sync();
          if (i < all.end) next(all.end - 1 - me) = made(all.size() - 1 - me);
          th.inner().sync();
        }
      });
    };
    ctx.parallel_for(exec_place::device(m.size() - 1), total.shape(), x.read(), total.rw())
            ->*STARLING_KERNEL(index_t i, region_view<word> v, slice<word> to) {
      to(i) += v(far(i, n, 3));
    };
  });
  ctx.finalize();
  std::vector<word> expected(sums.size(), 0);
  for (word e = 1; e <= epochs; ++e) {
    const auto values = by_loop(start, e);
    for (index_t i = 0; i < n; ++i)
      expected[static_cast<std::size_t>(i)] += values[static_cast<std::size_t>(far(i, n, 3))];
  }
  CHECK(sums == expected);
  for (int pe = 0; pe < m.size(); ++pe) {
    std::vector<word> got(start.size(), 1);
    x.read(pe, epochs, got);
    CHECK(got == by_loop(start, epochs));
  }
}

TEST_CASE("recurrences in launches pass, every context and agent") {
  random r(64);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3})
    for (const backend_kind backend : {backend_kind::stream, backend_kind::graph, backend_kind::persistent})
      for (const region_agent agent : agents) {
        if (agent == region_agent::copy_engine && backend == backend_kind::persistent) continue;
        CAPTURE(pes);
        CAPTURE(static_cast<int>(backend));
        CAPTURE(std::string(name(agent)));
        machine m = checked_machine(pes, 20);
        run_tasks(m, 70, backend,
                  {.agent = agent,
                   .chunk_bytes = 128,
                   .tiles = r.below(2) == 0 ? region_mapping::one_to_one(11) : region_mapping::stride(3, 7),
                   .agent_blocks = 1 + static_cast<int>(r.below(2)),
                   .credits = r.below(2) == 0},
                  r.next());
      }
}

TEST_CASE("a small case of a launch under many schedules") {
  for (const region_agent agent : agents) {
    CAPTURE(std::string(name(agent)));
    machine m = checked_machine(2, 1000);
    run_tasks(m, 40, backend_kind::stream,
              {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(11)}, 5);
  }
}

enum class mistake {
  none,
  leaves_element_out,
  stores_outside,
  lacks_barrier,
  never_calls,
  one_group_never_calls,
  calls_twice,
  one_thread_returns
};

void run_with(machine& m, mistake wrong, region_agent agent) {
  constexpr index_t n = 64;
  region<int> x(m, n, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(8)});
  x.load(std::vector<int>(n, 1));
  context ctx(m);
  for (int e = 0; e < 2; ++e)
    ctx.launch(spec, exec_place::all_devices(), x.update())->*STARLING_KERNEL(hierarchy th, region_tiles<int> v) {
      const slice<int> made = th.storage<int>(1);
      const auto write = [&] {
        v.each_tile([&](const tile& t, const tracked<int>& next) {
          v.for_each(t, [&](index_t i) { made(i - t.range.begin) = v.old((i + n / 2) % n); });
          if (wrong != mistake::lacks_barrier) th.inner().sync();
          const index_t me = th.inner().rank();
          if (me < t.range.size() && !(wrong == mistake::leaves_element_out && t.range.begin + me == 9))
            next(t.range.begin + me) = made(t.range.size() - 1 - me) + 1;
          if (wrong == mistake::stores_outside && t.range.begin + me == 9) next((9 + n / 2) % n) = 0;
        });
      };
      if (wrong == mistake::never_calls) return;
      if (wrong == mistake::one_group_never_calls && th.rank(0) == 1) return;
      if (wrong == mistake::one_thread_returns && th.rank() == 5) return;
      write();
      if (wrong == mistake::calls_twice && th.rank(0) == 2) write();
    };
  ctx.finalize();
}

TEST_CASE("mistakes in launches that update a region") {
  for (const region_agent agent : agents) {
    CAPTURE(std::string(name(agent)));
    const auto run = [&](mistake wrong) {
      return [wrong, agent] {
        machine m = checked_machine(2, 5);
        run_with(m, wrong, agent);
      };
    };
    run(mistake::none)();
    check_parts(failure_of<region_error>(run(mistake::leaves_element_out)),
                {"element 9 was not stored in epoch 1", "region_launch_kernels.cpp:", "PE 0"});
    check_parts(failure_of<region_error>(run(mistake::stores_outside)),
                {"stored to element 41, which this tile does not write", "region_launch_kernels.cpp:"});
    check_parts(failure_of<region_error>(run(mistake::never_calls)),
                {"have returned from the body of a launch without each_tile", "region_launch_kernels.cpp:"});
    check_parts(failure_of<region_error>(run(mistake::one_group_never_calls)),
                {"group 1 of 2 on this PE", "without each_tile", "PE 0"});
    check_parts(failure_of<region_error>(run(mistake::calls_twice)),
                {"group 0 of 2 on this PE calls each_tile again", "region_launch_kernels.cpp:", "PE 1"});
    if (const auto e = finding_of(run(mistake::lacks_barrier)))
      check_parts(e->what(), {"scratch memory", "region_launch_kernels.cpp:"});
    check_parts(failure_of<region_error>(run(mistake::one_thread_returns)),
                {"threads of group 0 of 2 on this PE", "without each_tile", "PE 0"});
  }
}

}  // namespace
}  // namespace starling::test::region_launch_kernels_tests
