// Launches that cannot update a region: each is an error of its own that names the value and what works, and changes
// nothing.
#include "starling/region/tasks.hpp"
#include "starling/stf/task_error.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test::region_launch_kernels_tests {
namespace {

using stf::con;
using stf::context;
using stf::exec_place;
using stf::hw_scope;
using stf::par;
using stf::task_error;

constexpr index_t n = 100;

// A template, so that nvcc sees one signature.
template <class Spec>
struct add_one {
  STARLING_HD void operator()(stf::thread_hierarchy<Spec>, region_tiles<int> v) const {
    v.each_tile(
        [&](const tile& t, const tracked<int>& next) { v.for_each(t, [&](index_t i) { next(i) = v.old(i) + 1; }); });
  }
};
template <class Spec>
struct add_two {
  STARLING_HD void operator()(stf::thread_hierarchy<Spec>, region_tiles<int>, region_tiles<int>) const {}
};

template <class Spec>
void submit(context& ctx, const Spec& spec, const region<int>& x, const exec_place& where = exec_place::all_devices()) {
  ctx.launch(spec, where, x.update())->*add_one<Spec>();
}

void check_values(const region<int>& x, int pes, std::uint64_t epoch, int value) {
  for (int pe = 0; pe < pes; ++pe) {
    std::vector<int> got(n, -1);
    x.read(pe, epoch, got);
    CHECK(got == std::vector<int>(n, value));
  }
}

TEST_CASE("launches that cannot update a region") {
  auto m = test_machine(2);
  if (!m) return;
  region<int> x(*m, n, {.chunk_bytes = 128}), other(*m, n), one(*m, n, {.buffers = 1, .credits = true}),
      own(*m, n, {.agent = region_agent::own_warp}), fresh(*m, n);
  for (region<int>* r : {&x, &other, &one, &own}) r->load(std::vector<int>(n, 1));
  context ctx(*m);
  const auto all = exec_place::all_devices();
  const auto refused = [&](auto&& call, std::initializer_list<std::string> says) {
    check_parts(failure_of<task_error>(call), says);
  };
  // Hierarchies.
  refused([&] { submit(ctx, con(par()), x); }, {"level 0", "is con", "par(con())"});
  refused([&] { submit(ctx, con<64>(), x); }, {"level 0", "is con"});
  refused([&] { submit(ctx, par(), x); }, {"no level of blocks", "par(con())"});
  refused([&] { submit(ctx, par(hw_scope::thread, con<32>()), x); }, {"no level of blocks"});
  refused([&] { submit(ctx, par(hw_scope::device, par()), x); }, {"no level of blocks"});
  refused([&] { submit(ctx, par(hw_scope::device), x); }, {"no level of blocks"});
  refused([&] { submit(ctx, par(con<2>(con<32>())), x); }, {"level 1", "several blocks", "hw_scope::thread"});
  refused([&] { submit(ctx, par(par(con(2, par<32>()))), x); }, {"level 2", "several blocks"});
  refused([&] { submit(ctx, par(1, con<32>()), x); }, {"1 members for 2 PEs", "leave the width out"});
  refused([&] { submit(ctx, par(con<48>()), x); }, {"48 threads", "a multiple of 32"});
  refused([&] { submit(ctx, par(con<3>(hw_scope::thread, con<8>())), x); }, {"24 threads", "a multiple of 32"});
  refused([&] { submit(ctx, par(con(hw_scope::thread, con<3>())), x); }, {"255 threads", "a multiple of 32"});
  refused([&] { submit(ctx, par(con(index_t{1} << 62, hw_scope::thread, con<32>())), x); }, {"up to 1024"});
  // Places, regions.
  refused([&] { submit(ctx, par(con<32>()), x, exec_place::device(1)); }, {"device 1", "exec_place::all_devices()"});
  refused([&] { submit(ctx, par(con<32>()), x, exec_place::grid({1, 0})); }, {"exec_place::all_devices()"});
  refused([&] { submit(ctx, par(con<32>()), x, exec_place::automatic()); }, {"exec_place::all_devices()"});
  check_parts(failure_of<argument_error>([&] { submit(ctx, par(con<32>()), x, exec_place::host()); }), {"on the host"});
  const auto spec = par(con<32>());
  const add_two<std::remove_const_t<decltype(spec)>> two;
  refused([&] { ctx.launch(spec, all, x.update(), x.update())->*two; }, {"updates 2 regions"});
  refused([&] { ctx.launch(spec, all, x.update(), other.update())->*two; }, {"updates 2 regions"});
  refused([&] { submit(ctx, par(con<32>()), one); }, {"region_options::buffers = 1"});
  refused([&] { submit(ctx, par(con<32>()), own); }, {"own_warp", "inline_stores, polling and copy_engine"});
  refused([&] { submit(ctx, par(con<32>()), fresh); }, {"before it has a value", "load()"});
  submit(ctx, par(con<32>()), x);  // all is as it was
  ctx.finalize();
  check_values(x, 2, 1, 2);
}

TEST_CASE("what launches in a persistent program cannot do is refused by name") {
  auto m = test_machine(2);
  if (!m) return;
  region<int> x(*m, n, {.agent = region_agent::copy_engine, .chunk_bytes = 128});
  x.load(std::vector<int>(n, 1));
  stf::persistent_ctx ctx(*m);
  check_parts(failure_of<task_error>([&] { ctx.repeat(2, [&] { submit(ctx, par(con<32>()), x); }); }),
              {"update of a region whose agent is copy_engine", "stream_ctx"});
  submit(ctx, par(con<32>()), x);  // all is as it was
  ctx.finalize();
  check_values(x, 2, 1, 2);
}

}  // namespace
}  // namespace starling::test::region_launch_kernels_tests
