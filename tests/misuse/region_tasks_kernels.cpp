// Regions used wrongly in tasks: each mistake is an error of its own that names what works, and changes nothing.
#include "starling/region/tasks.hpp"
#include "starling/stf/task_error.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::test::region_tasks_kernels_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;
using stf::task_error;

constexpr index_t n = 100;

struct add_one {
  STARLING_HD void operator()(index_t i, region_step<int> v) const { v.next(i) = v.old(i) + 1; }
};
struct add_two {
  STARLING_HD void operator()(index_t i, region_step<int> v, region_step<int> w) const {
    v.next(i) = w.old(i) + 1;
    w.next(i) = v.old(i) + 1;
  }
};

void check_values(const region<int>& x, int pes, std::uint64_t epoch, int value) {
  for (int pe = 0; pe < pes; ++pe) {
    std::vector<int> got(n, -1);
    x.read(pe, epoch, got);
    CHECK(got == std::vector<int>(n, value));
  }
}

TEST_CASE("loops that cannot update a region") {
  auto m = test_machine(2);
  if (!m) return;
  region<int> x(*m, n, {.chunk_bytes = 128, .bounds = {32}}), other(*m, n), one(*m, n, {.buffers = 1, .credits = true});
  x.load(std::vector<int>(n, 1));
  other.load(std::vector<int>(n, 1));
  one.load(std::vector<int>(n, 1));
  context ctx(*m);
  const auto all = exec_place::all_devices();
  const auto refused = [&](auto&& submit, std::initializer_list<std::string> says) {
    check_parts(failure_of<task_error>(submit), says);
  };
  refused([&] { ctx.parallel_for(all, x.shape(), x.update())->*add_one(); }, {"another partitioner", "x.partition()"});
  refused([&] { ctx.parallel_for(stf::cyclic(), all, x.shape(), x.update())->*add_one(); }, {"x.partition()"});
  refused([&] { ctx.parallel_for(other.partition(), all, x.shape(), x.update())->*add_one(); }, {"x.partition()"});
  refused([&] { ctx.parallel_for(x.partition(), exec_place::device(1), x.shape(), x.update())->*add_one(); },
          {"device 1", "exec_place::all_devices()"});
  refused([&] { ctx.parallel_for(x.partition(), exec_place::grid({1, 0}), x.shape(), x.update())->*add_one(); },
          {"exec_place::all_devices()"});
  refused([&] { ctx.parallel_for(x.partition(), exec_place::automatic(), x.shape(), x.update())->*add_one(); },
          {"exec_place::all_devices()"});
  refused([&] { ctx.parallel_for(x.partition(), exec_place::host(), x.shape(), x.update())->*add_one(); },
          {"exec_place::all_devices()"});
  refused([&] { ctx.parallel_for(x.partition(), all, stf::box(n - 1), x.update())->*add_one(); },
          {"elements 0 to 99", "x.shape()"});
  refused([&] { ctx.parallel_for(x.partition(), all, x.shape(), x.update(), x.update())->*add_two(); },
          {"updates 2 regions"});
  refused([&] { ctx.parallel_for(x.partition(), all, x.shape(), x.update(), other.update())->*add_two(); },
          {"updates 2 regions"});
  refused([&] { ctx.parallel_for(one.partition(), all, one.shape(), one.update())->*add_one(); },
          {"region_options::buffers = 1"});
  // As partitioner of any loop it goes with its shape and its PEs.
  auto d = ctx.logical_data(stf::shape_of<slice<int>>(n));
  const auto zero = STARLING_KERNEL(index_t i, slice<int> v) { v(i) = 0; };
  refused([&] { ctx.parallel_for(x.partition(), exec_place::grid({0, 1, 0}), x.shape(), d.write())->*zero; },
          {"3 devices", "2 PEs"});
  ctx.parallel_for(x.partition(), all, x.shape(), x.update())->*add_one();  // all is as it was
  ctx.finalize();
  check_values(x, 2, 1, 2);
}

TEST_CASE("regions without a value, of another machine, and on the host") {
  auto m = test_machine(2);
  if (!m) return;
  auto m2 = test_machine(2);
  region<int> x(*m, n), theirs(*m2, n),
      masked(*m, n,
             {.subscribers = subscribers::only([](int, index_range) { return std::uint64_t{0}; }), .credits = true});
  theirs.load(std::vector<int>(n, 1));
  masked.load(std::vector<int>(n, 1));
  context ctx(*m);
  const auto all = exec_place::all_devices();
  check_parts(failure_of<task_error>([&] { ctx.parallel_for(x.partition(), all, x.shape(), x.update())->*add_one(); }),
              {"before it has a value", "load()"});
  check_parts(failure_of<task_error>([&] { ctx.host_launch(x.read())->*[](slice<const int>) {}; }), {"load()"});
  check_parts(failure_of<argument_error>(
                  [&] { ctx.parallel_for(theirs.partition(), all, theirs.shape(), theirs.update())->*add_one(); }),
              {"another machine"});
  x.load(std::vector<int>(n, 1));
  check_parts(
      failure_of<argument_error>([&] {
        ctx.parallel_for(exec_place::host(), x.shape(), x.read())->*STARLING_KERNEL(index_t, region_view<int>){};
      }),
      {"host_launch"});
  check_parts(
      failure_of<argument_error>([&] { ctx.task(exec_place::host(), x.read())->*[](stream&, region_source<int>) {}; }),
      {"host_launch"});
  check_parts(failure_of<task_error>([&] { ctx.host_launch(masked.read())->*[](slice<const int>) {}; }),
              {"region_options::subscribers"});
  ctx.finalize();
}

TEST_CASE("copies of fixed buffers, launched when another one is next") {
  for (const int pes : {2, 3}) {
    auto m = test_machine(pes);
    if (!m) return;
    region<int> x(*m, n, {.agent = region_agent::copy_engine, .chunk_bytes = 128});
    x.load(std::vector<int>(n, 1));
    const auto all = exec_place::all_devices();
    const auto submit = [&](context& ctx) { ctx.parallel_for(x.partition(), all, x.shape(), x.update())->*add_one(); };
    context ctx(*m);
    const stf::recorded_tasks one = ctx.record([&] { submit(ctx); });
    one.launch();
    check_parts(failure_of<task_error>([&] { one.launch(); }),
                {"recorded_tasks::launch", "begin with buffer 1", "0 is next", "use all 2 in turn"});
    submit(ctx);
    check_parts(failure_of<task_error>([&] { one.launch(2); }), {"begin with buffer 1", "0 comes after them"});
    one.launch();
    submit(ctx);
    const stf::recorded_tasks two = ctx.record([&] { ctx.repeat(2, [&] { submit(ctx); }); });
    two.launch(3);
    ctx.finalize();
    check_values(x, pes, 10, 11);
    // A graph of the user's stream is launched without anybody's asking.
    stream s = m->new_stream(0);
    const graph g = m->record(s, [&] {
      stf::stream_ctx within(*m, s);
      submit(within);
      within.finalize();
    });
    g.launch(s);
    s.synchronize();
    check_values(x, pes, 11, 12);
    g.launch(s);
    check_parts(failure_of<region_error>([&] { s.synchronize(); }),
                {"epoch 12 lies in buffer 0", "copies of this launch are of buffer 1", "record as many epochs"});
    // As good as new.
    x.load(std::vector<int>(n, 1));
    context again(*m);
    again.repeat(3, [&] { submit(again); });
    again.finalize();
    check_values(x, pes, 3, 4);
  }
}

TEST_CASE("a loop over fixed buffers within what is recorded uses all of them in each round") {
  auto m = test_machine(2);
  if (!m) return;
  region<int> x(*m, n, {.agent = region_agent::copy_engine, .chunk_bytes = 128});
  x.load(std::vector<int>(n, 1));
  context ctx(*m);
  auto again = ctx.logical_data(stf::shape_of<stf::scalar_view<int>>());
  const auto rounds_of = [&](int updates) {
    return [&, updates] {
      for (int k = 0; k < updates; ++k)
        ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update())->*add_one();
      ctx.parallel_for(exec_place::device(0), stf::box(1), again.write())
              ->*STARLING_KERNEL(index_t, stf::scalar_view<int> f) {
        *f = 0;
      };
    };
  };
  check_parts(failure_of<task_error>([&] { ctx.record([&] { ctx.repeat_while(again, rounds_of(1), 3); }); }),
              {"repeat_while", "agent is copy_engine", "2 recordings in turn", "repeat it outside"});
  const stf::recorded_tasks whole = ctx.record([&] { ctx.repeat_while(again, rounds_of(2), 3); });
  whole.launch();
  whole.launch();
  ctx.repeat_while(again, rounds_of(1), 3);  // all is as it was
  ctx.finalize();
  check_values(x, 2, 5, 6);
}

TEST_CASE("what a persistent program cannot do is refused by name") {
  auto m = test_machine(2);
  if (!m) return;
  region<int> x(*m, n, {.agent = region_agent::copy_engine, .chunk_bytes = 128}),
      own(*m, n, {.agent = region_agent::own_warp});
  x.load(std::vector<int>(n, 1));
  own.load(std::vector<int>(n, 1));
  stf::persistent_ctx ctx(*m);
  const auto submit = [&](const region<int>& r) {
    ctx.parallel_for(r.partition(), exec_place::all_devices(), r.shape(), r.update())->*add_one();
  };
  check_parts(failure_of<task_error>([&] { submit(own); }), {"own_warp", "inline_stores, polling and copy_engine"});
  submit(x);
  check_parts(failure_of<task_error>([&] { ctx.repeat(2, [&] { submit(x); }); }),
              {"update of a region whose agent is copy_engine", "stream_ctx"});
  submit(x);  // all is as it was
  ctx.finalize();
  check_values(x, 2, 2, 3);
}

TEST_CASE("a loop for which there is no memory leaves the region as it was") {
  auto m = test_machine(2);
  if (!m) return;
  region<int> x(*m, n);
  x.load(std::vector<int>(n, 1));
  context ctx(*m, {.device_memory = std::size_t{1} << 16});
  auto large = ctx.logical_data(stf::shape_of<slice<int>>(index_t{1} << 20));
  const auto both = STARLING_KERNEL(index_t i, slice<int> v, region_view<int> w) { v(i) = w(0); };
  CHECK_THROWS_AS(ctx.parallel_for(large.shape(), large.write(), x.read())->*both, memory_error);
  ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update())->*add_one();
  ctx.finalize();
  check_values(x, 2, 1, 2);
}

}  // namespace
}  // namespace starling::test::region_tasks_kernels_tests
