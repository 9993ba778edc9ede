// Bodies of launches on virtual devices that use the tiles of a region wrongly, or throw.
#include "starling/region/tasks.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test::region_launch_tests {
namespace {

using stf::con;
using stf::context;
using stf::exec_place;
using stf::par;

constexpr index_t n = 100;
constexpr region_agent agents[] = {region_agent::inline_stores, region_agent::polling, region_agent::copy_engine};

enum class mistake { none, never_calls, one_group_never_calls, calls_twice, one_thread_returns, throws };

// Six groups of 32 threads on each of 3 PEs, taken by fewer blocks in turn.
constexpr auto spec = par(18, con<32>());
void submit(context& ctx, const region<int>& x, mistake wrong) {
  ctx.launch(spec, exec_place::all_devices(), x.update())->*[wrong](const auto& th, region_tiles<int> v) {
    const auto write = [&] {
      v.each_tile([&](const tile& t, const tracked<int>& next) {
        if (wrong == mistake::throws && th.rank() == 70) throw std::runtime_error("this body fails");
        th.inner().sync();
        v.for_each(t, [&](index_t i) { next(i) = v.old(i) + 1; });
      });
    };
    if (wrong == mistake::never_calls) return;
    if (wrong == mistake::one_group_never_calls && th.rank(0) == 17) return;
    if (wrong == mistake::one_thread_returns && th.rank() == 70) return;
    write();
    if (wrong == mistake::calls_twice && th.rank(0) == 8) write();
  };
}

TEST_CASE("bodies of launches that update a region wrongly, and load makes it usable again") {
  if (skipped_on_gpus("throw in kernels")) return;
  for (const region_agent agent : agents)
    for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
      CAPTURE(std::string(name(agent)));
      CAPTURE(static_cast<int>(backend));
      machine m = machine::host(3);
      region<int> x(m, n, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(10)});
      const auto run = [&](mistake wrong) {
        return [&, wrong] {
          x.load(std::vector<int>(n, 5));
          context ctx(m, {.backend = backend});
          submit(ctx, x, mistake::none);
          submit(ctx, x, wrong);
          ctx.finalize();
        };
      };
      check_parts(failure_of<region_error>(run(mistake::never_calls)),
                  {"of 6 on this PE have returned", "without each_tile", "region_launch.cpp:"});
      check_parts(failure_of<region_error>(run(mistake::one_group_never_calls)),
                  {"group 5 of 6 on this PE", "without each_tile", "PE 2"});
      check_parts(failure_of<region_error>(run(mistake::calls_twice)),
                  {"group 2 of 6 on this PE calls each_tile again", "PE 1"});
      check_parts(failure_of<region_error>(run(mistake::one_thread_returns)),
                  {"threads of group 2 of 6 on this PE", "without each_tile", "PE 0"});
      check_parts(failure_of<std::runtime_error>(run(mistake::throws)), {"this body fails"});
      run(mistake::none)();
      for (int pe = 0; pe < 3; ++pe) {
        std::vector<int> got(n, -1);
        x.read(pe, 2, got);
        CHECK(got == std::vector<int>(n, 7));
      }
    }
}

}  // namespace
}  // namespace starling::test::region_launch_tests
