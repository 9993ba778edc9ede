// A body on a virtual device that throws while it updates a region.
#include "starling/region/tasks.hpp"
#include "starling/stf/task_error.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test::region_tasks_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::task_error;

constexpr index_t n = 100;

void check_values(const region<int>& x, int pes, std::uint64_t epoch, int value) {
  for (int pe = 0; pe < pes; ++pe) {
    std::vector<int> got(n, -1);
    x.read(pe, epoch, got);
    CHECK(got == std::vector<int>(n, value));
  }
}

TEST_CASE("a body that throws ends its agent too, and load makes the region usable again") {
  if (skipped_on_gpus("throw in kernels")) return;
  for (const region_agent agent : {region_agent::inline_stores, region_agent::polling, region_agent::copy_engine})
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph, stf::backend_kind::persistent}) {
      if (agent == region_agent::copy_engine && backend == stf::backend_kind::persistent) continue;
      machine m = machine::host(3);
      region<int> x(m, n, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(10)});
      x.load(std::vector<int>(n, 1));
      context ctx(m, {.backend = backend});
      const auto submit = [&](int wrong) {
        ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update())
                ->*[wrong](index_t i, region_step<int> v) {
                      if (i == wrong) throw std::runtime_error("this body fails");
                      v.next(i) = v.old(i) + 1;
                    };
      };
      submit(-1);
      check_parts(failure_of<std::runtime_error>([&] {
                    ctx.repeat(2, [&] { submit(50); });
                    ctx.synchronize();
                  }),
                  {"this body fails"});
      if (backend == stf::backend_kind::persistent)
        check_parts(failure_of<task_error>([&] { submit(-1); }), {"region", "has no value"});
      x.load(std::vector<int>(n, 5));
      submit(-1);
      submit(-1);
      ctx.finalize();
      check_values(x, 3, 2, 7);
    }
}

}  // namespace
}  // namespace starling::test::region_tasks_tests
