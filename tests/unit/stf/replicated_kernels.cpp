// Data that a task over several devices reads with a copy on each: values, that each device reads its own, and that
// copies stay until the data is written.
#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/test_machine.hpp"

namespace starling::test::replicated_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

using numbers = std::vector<std::int64_t>;

// y(i) = (3 y(i) + sum of a few of x) mod 10007, by all devices of `where`.
void mix_in(context& ctx, const exec_place& where, const stf::logical_data<slice<std::int64_t>>& x,
            const stf::logical_data<slice<std::int64_t>>& y) {
  ctx.parallel_for(where, y.shape(), x.read(data_place::replicated()), y.rw())
          ->*STARLING_KERNEL(index_t i, slice<const std::int64_t> from, slice<std::int64_t> to) {
    const index_t n = from.extent(0);
    to(i) = (3 * to(i) + from(i * 7 % n) + from((i + 5) * 3 % n)) % 10007;
  };
}
void mix_in(const numbers& x, numbers& y) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = (3 * y[i] + x[i * 7 % n] + x[(i + 5) * 3 % n]) % 10007;
}

TEST_CASE("random tasks that read copies and write in between") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 4);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      std::vector<numbers> all;
      for (int k = 0; k < 3; ++k) {
        all.emplace_back(static_cast<std::size_t>(1 + r.below(200)));
        for (auto& v : all.back()) v = r.below(10007);
      }
      std::vector<numbers> expected = all;
      // With little memory copies give way again.
      context ctx(*m, {.backend = backend, .device_memory = seed % 3 == 0 ? std::size_t{4} << 10 : 0});
      std::vector<stf::logical_data<slice<std::int64_t>>> d;
      for (auto& values : all) d.push_back(ctx.logical_data(values));
      const exec_place places[] = {exec_place::all_devices(), exec_place::grid({n_pes - 1, 0, n_pes - 1}),
                                   exec_place::device(n_pes - 1), exec_place::host(), exec_place::automatic()};
      for (int step = 0; step < 12; ++step) {
        const auto x = static_cast<std::size_t>(r.below(3));
        const auto y = (x + 1 + static_cast<std::size_t>(r.below(2))) % 3;
        mix_in(ctx, places[r.below(5)], d[x], d[y]);
        mix_in(expected[x], expected[y]);
        if (r.below(4) == 0) ctx.prefetch(d[x], data_place::replicated());
        if (r.below(4) == 0) ctx.fence();
      }
      ctx.finalize();
      CHECK(all == expected);
    }
}

TEST_CASE("each device reads memory of its own, which is brought once") {
  const auto m = test_machine(3);
  if (!m) return;
  numbers x(50, 4);
  numbers where(3, 0);
  context ctx(*m);
  auto d = ctx.logical_data(x);
  auto w = ctx.logical_data(where);
  const auto starts = [&] {
    ctx.parallel_for(exec_place::all_devices(), w.shape(), d.read(data_place::replicated()), w.rw())
            ->*STARLING_KERNEL(index_t i, slice<const std::int64_t> from, slice<std::int64_t> to) {
      to(i) = reinterpret_cast<std::int64_t>(from.data_handle());
    };
    return ctx.statistics().copies;
  };
  const std::uint64_t once = starts();
  CHECK(starts() == once);
  // Tasks on one device have the same copies.
  for (int pe = 0; pe < 3; ++pe) ctx.task(exec_place::device(pe), d.read())->*[](stream&, slice<const std::int64_t>) {};
  CHECK(ctx.statistics().copies == once);
  ctx.parallel_for(exec_place::device(1), d.shape(), d.rw())->*STARLING_KERNEL(index_t i, slice<std::int64_t> v) {
    v(i) += 1;
  };
  // The other two come anew.
  CHECK(starts() == once + 2);
  ctx.finalize();
  CHECK(where[0] != where[1]);
  CHECK(where[0] != where[2]);
  CHECK(where[1] != where[2]);
  CHECK(x == numbers(50, 5));
}

TEST_CASE("in tasks, hierarchies and dependencies counted at run time") {
  const auto m = test_machine(2);
  if (!m) return;
  numbers x(8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int64_t>(i + 1);
  numbers sums(2, 0);
  numbers seen(2, 0);
  context ctx(*m);
  auto d = ctx.logical_data(x);
  auto s = ctx.logical_data(sums);
  auto t = ctx.logical_data(seen);
  ctx.launch(stf::par(stf::con<32>()), exec_place::all_devices(), d.read(data_place::replicated()), s.rw())
          ->*STARLING_KERNEL(stf::thread_hierarchy<decltype(stf::par(stf::con<32>()))> th,
                             slice<const std::int64_t> from, slice<std::int64_t> to) {
    for (auto [i] : th.apply_partition(stf::shape(to)))
      for (index_t k = 0; k < from.extent(0); ++k) to(i) += from(k);
  };
  auto by_hand = ctx.task(exec_place::all_devices()).add(d.read(data_place::replicated())).add(t.rw());
  by_hand->*[&](stf::task_run& run, const stf::dynamic_task& task) {
    CHECK(task.memory(0, 0) != task.memory(0, 1));
    CHECK_THROWS_AS((void)task.memory(0, 2), range_error);
    for (int place = 0; place < run.places(); ++place) {
      const auto from = task.get<slice<const std::int64_t>>(0, place);
      const auto to = task.get<slice<std::int64_t>>(1, place);
      run.stream(place).copy(reinterpret_cast<std::byte*>(to.data_handle() + place),
                             reinterpret_cast<const std::byte*>(from.data_handle() + 3 + place), sizeof(std::int64_t));
    }
  };
  ctx.finalize();
  CHECK(sums == numbers{36, 36});
  CHECK(seen == numbers{4, 5});
}

TEST_CASE("recorded and repeated, also as a persistent program") {
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph, stf::backend_kind::persistent}) {
    const auto m = test_machine(2);
    if (!m) return;
    numbers x(20, 1);
    numbers y(30, 2);
    numbers expected_x = x;
    numbers expected_y = y;
    context ctx(*m, {.backend = backend});
    auto dx = ctx.logical_data(x);
    auto dy = ctx.logical_data(y);
    ctx.repeat(7, [&] {
      mix_in(ctx, exec_place::all_devices(), dx, dy);
      mix_in(ctx, exec_place::device(1), dy, dx);
    });
    ctx.finalize();
    for (int i = 0; i < 7; ++i) {
      mix_in(expected_x, expected_y);
      mix_in(expected_y, expected_x);
    }
    CHECK(x == expected_x);
    CHECK(y == expected_y);
  }
}

}  // namespace
}  // namespace starling::test::replicated_tests
