// Persistent programs of tasks pass check mode, with the values of the sequential loop; and without any one of the
// waits that order them they do not.
#include "stf/persistent/program_run.hpp"
#include "support/checked.hpp"
#include "support/task_loops.hpp"

namespace starling::test::stf_persistent_kernels_tests {
namespace {

using stf::exec_place;
using stf::operation_list;
using stf::persistent_ctx;
using stf::program_operation;

TEST_CASE("random loops of tasks") {
  random r(51);
  for (int n_pes = 1; n_pes <= 4; ++n_pes)
    for (int i = 0; i < 3; ++i) {
      task_program loop = random_task_program(r, n_pes, 4, 8);
      loop.length = 1 + r.below(i == 0 ? 700 : 40);
      task_values expected = random_task_values(r, loop);
      task_values values = expected;
      const auto rounds = static_cast<std::uint64_t>(1 + r.below(4));
      for (std::uint64_t k = 0; k < rounds; ++k) run_in_order(loop, expected);
      const machine m = checked_machine(n_pes, 24);
      INFO("seed " << r.seed << ", " << n_pes << " devices, " << rounds << " rounds\n" << loop.text());
      try {
        persistent_ctx ctx(m);
        std::vector<stf::logical_data<int_slice>> all;
        for (auto& v : values) all.push_back(ctx.logical_data(v));
        ctx.repeat(rounds, [&] {
          for (const task_step& s : loop.steps) submit_loop(ctx, s, all);
        });
        all.clear();
        ctx.finalize();
      } catch (const check_error& e) {
        FAIL_CHECK(e.what());
      }
      CHECK(values == expected);
      CHECK(m.checked().accesses_seen);
      CHECK(m.checked().schedules >= 24);
    }
}

TEST_CASE("a reduction over devices decides about the next round") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const machine m = checked_machine(n_pes, 24);
    std::vector<std::int64_t> x(50, 1);
    std::int64_t sum = 0;
    int again = 0;
    CAPTURE(n_pes);
    try {
      persistent_ctx ctx(m);
      auto a = ctx.logical_data(x);
      auto total = ctx.logical_data(stf::scalar_view<std::int64_t>(&sum));
      auto flag = ctx.logical_data(stf::scalar_view<int>(&again));
      ctx.repeat_while(
          flag,
          [&] {
            ctx.parallel_for(exec_place::all_devices(), a.shape(), a.rw(), total.reduce(stf::reducer::sum()))
                    ->*STARLING_KERNEL(index_t i, int_slice v, std::int64_t& s) {
              s += v(i) *= 2;
            };
            ctx.parallel_for(exec_place::device(n_pes - 1), stf::box(1), total.read(), flag.write())
                    ->*STARLING_KERNEL(index_t, stf::scalar_view<const std::int64_t> s, stf::scalar_view<int> f) {
              *f = *s < 50 * 16 ? 1 : 0;
            };
          },
          100);
      ctx.finalize();
    } catch (const check_error& e) {
      FAIL_CHECK(e.what());
    }
    CHECK(x == std::vector<std::int64_t>(50, 16));
    CHECK(sum == 50 * 16);
    CHECK(again == 0);
  }
}

struct add_kernel {
  std::int64_t* to;
  const std::int64_t* from;
  index_t n;
  STARLING_HD void operator()(block& b) const {
    const index_range mine = share(n, b.blocks_per_pe(), b.index());
    b.for_each(mine, [&](index_t i) { to[i] += from[i] + 1; });
  }
};

program_operation adding(std::string name, std::uint64_t task, int pe, int blocks, const add_kernel& k) {
  program_operation i;
  i.name = std::move(name);
  i.task = task;
  i.pe = pe;
  i.blocks = blocks;
  i.code = stf::erase_kernel(k);
  const auto bytes = static_cast<std::size_t>(k.n) * sizeof(std::int64_t);
  i.accesses = {{reinterpret_cast<const std::byte*>(k.to), bytes, true},
                {reinterpret_cast<const std::byte*>(k.from), bytes, false}};
  return i;
}

// A value goes from device 0 to device 1 and back; each of several blocks.
TEST_CASE("no wait of a plan can be left out") {
  constexpr index_t n = 24;
  constexpr auto bytes = static_cast<std::size_t>(n) * sizeof(std::int64_t);
  const auto run = [&](int without) {
    machine m = checked_machine(2, 60);
    std::vector<local_memory> memory;
    for (const int pe : {0, 1, 0}) {
      memory.push_back(m.allocate_on(pe, bytes));
      m.fill(memory.back().data(), 0, bytes);
    }
    const auto x = [&](std::size_t i) { return reinterpret_cast<std::int64_t*>(memory[i].data()); };
    operation_list list;
    list.tasks = 2;
    list.operations.push_back(adding("first", 1, 0, 2, {x(0), x(2), n}));
    list.copy("there", {0, 1, memory[1].data(), bytes, memory[0].data(), bytes, bytes, 1});
    list.operations.push_back(adding("second", 2, 1, 3, {x(1), x(1), n}));
    list.copy("back", {1, 0, memory[2].data(), bytes, memory[1].data(), bytes, bytes, 1});
    const auto units = stf::assign_units(m, list.operations);
    stf::program_plan plan = stf::plan_program(list.operations, stf::order_operations(list.operations), 2, {3, 3}, 1);
    int waits = 0;
    for (auto& station : plan.blocks)
      for (auto& steps : station)
        for (auto& s : steps)
          for (std::size_t w = 0; w < s.waits.size(); ++w)
            if (waits++ == without) s.waits.erase(s.waits.begin() + static_cast<std::ptrdiff_t>(w--));
    stf::run_program(m, list, units, plan, {3});
    std::int64_t a = 0, b = 0, c = 0;
    for (int t = 0; t < 3; ++t) {
      a += c + 1;
      b = 2 * a + 1;
      c = b;
    }
    for (index_t i = 0; i < n; ++i) {
      CHECK(x(0)[i] == a);
      CHECK(x(1)[i] == b);
      CHECK(x(2)[i] == c);
    }
    return waits;
  };
  const int waits = run(-1);
  REQUIRE(waits >= 4);
  for (int w = 0; w < waits; ++w) {
    CAPTURE(w);
    CHECK_THROWS_AS((void)run(w), check_error);
  }
}

}  // namespace
}  // namespace starling::test::stf_persistent_kernels_tests
