// What parts of data cost: what moves when a part is used, what waits for what, and rows of neighbours.
#include <atomic>
#include <chrono>
#include <thread>

#include "support/stf/back_ends.hpp"
#include "support/stf/changed_parts.hpp"
#include "support/stf/line_stencil.hpp"
#include "support/test_machine.hpp"

namespace starling::test::parts_moves_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

TEST_CASE("only parts move") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    constexpr index_t n = 100;
    std::vector<std::int64_t> a(n * n, 1);
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(slice<std::int64_t, 2>(a.data(), n, n));
    change(ctx, exec_place::device(0), d, 0, 0);  // on device 0, so that the whole moves there once
    auto moved = [&, before = std::uint64_t{0}]() mutable {
      const std::uint64_t now = ctx.statistics().copied_bytes;
      const std::uint64_t since = now - before;
      before = now;
      return since;
    };
    CHECK(moved() == n * n * 8);
    {
      auto rows = ctx.split(d, 4);
      CHECK(moved() == 0);
      for (int i = 0; i < 4; ++i) change(ctx, exec_place::device(0), rows[i], 0, 1);
      CHECK(moved() == 0);  // device 0 has them in one piece
      change(ctx, exec_place::device(1), rows[3], 0, 1);
      CHECK(moved() == 25 * n * 8);
      change(ctx, exec_place::device(1), rows[3], 0, 1);
      CHECK(moved() == 0);
      (void)ctx.wait(rows[2]);
      CHECK(moved() == 25 * n * 8);
      ctx.join(rows);
      CHECK(moved() == 25 * n * 8);  // rows[3] goes home
    }
    {
      auto tiles = ctx.split(d, {4, 4});
      change(ctx, exec_place::device(1), tiles[5], 0, 1);
      CHECK(moved() == 25 * 25 * 8);
    }
    ctx.task(exec_place::device(0), d.read())->*[](stream&, slice<const std::int64_t, 2>) {};
    CHECK(moved() == 25 * 25 * 8);
    // Parts that were only read leave the other copies of the whole valid.
    ctx.prefetch(d, data_place::device(1));
    CHECK(moved() == n * n * 8);
    {
      auto rows = ctx.split(d, 2);
      ctx.task(exec_place::device(1), rows[1].read())->*[](stream&, slice<const std::int64_t, 2>) {};
    }
    (void)moved();
    ctx.task(exec_place::device(0), d.read())->*[](stream&, slice<const std::int64_t, 2>) {};
    ctx.task(exec_place::device(1), d.read())->*[](stream&, slice<const std::int64_t, 2>) {};
    CHECK(moved() == 0);
    ctx.finalize();
  }
}

// The first body goes on when the second has begun, which therefore cannot wait for it.
TEST_CASE("tasks on different parts do not wait for each other") {
  if (skipped_on_gpus("run several functions of the host at a time")) return;
  const auto m = test_machine(1);
  if (!m || m->checking()) return;  // functions of the host take turns there
  std::vector<int> a(10, 1);
  std::atomic<bool> second{false};
  std::atomic<bool> met{false};
  context ctx(*m);
  auto d = ctx.logical_data(a);
  auto halves = ctx.split(d, 2, stf::halo{2});
  ctx.host_launch(halves[0].rw())->*[&](slice<int> x) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!second && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    met = second.load();
    x(4) = 7;
  };
  ctx.host_launch(halves[1].rw())->*[&](slice<int> x) {
    second = true;
    x(0) = 8;
  };
  // These wait for both.
  ctx.host_launch(halves.with_halo(0), halves.with_halo(1))->*[&](slice<const int> x, slice<const int> y) {
    if (x.extent(0) != 7 || y.extent(0) != 7) throw argument_error("extents");
    for (int i = 0; i < 7; ++i)
      if (x(i) != (i == 4 ? 7 : i == 5 ? 8 : 1) || y(i) != (i == 1 ? 7 : i == 2 ? 8 : 1))
        throw argument_error("values");
  };
  ctx.finalize();
  CHECK(met);
  CHECK(a == std::vector<int>{1, 1, 1, 1, 7, 8, 1, 1, 1, 1});
}

TEST_CASE("random stencils with rows of neighbours") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed / 2 % 4);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      line_stencil s;
      s.n = 1 + r.below(60);
      s.periodic = seed % 2 == 0;
      s.width = 1 + r.below(s.periodic && s.n < 6 ? s.n : 6);  // may reach over more than one neighbour
      const auto count = 1 + r.below(8);
      std::vector<std::int64_t> a(static_cast<std::size_t>(s.n));
      for (auto& x : a) x = r.below(1000);
      std::vector<std::int64_t> expected = a;
      context ctx(*m, {.backend = backend, .device_memory = seed % 3 == 0 ? std::size_t{8} << 10 : 0});
      auto d = ctx.logical_data(a);
      auto e = ctx.logical_data(stf::shape_of<slice<std::int64_t>>(s.n));
      {
        auto u = ctx.split(d, count, s.around());
        auto v = ctx.split(e, count, s.around());
        for (int t = 0; t < 6; ++t) {
          std::vector<int> order;
          for (int i = 0; i < u.size(); ++i) order.insert(order.begin() + r.below(i + 1), i);
          for (const int i : order)
            s.step(ctx, r.below(4) == 0 ? anywhere(r, n_pes) : exec_place::device(i % n_pes), u, v, i);
          std::swap(u, v);
          if (r.below(3) == 0) ctx.fence();
          expected = s.step(expected);
        }
      }
      ctx.finalize();
      CHECK(a == expected);
    }
}

// Each thread has a part, reads its neighbours' rows, adds to one sum, and looks at another datum in a stream of its
// own.
TEST_CASE("several threads on parts, sums and frozen data") {
  constexpr int threads = 4;
  constexpr int rounds = 20;
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    std::vector<std::int64_t> a(40, 1), shown(10, 7);
    std::int64_t sum = 5;
    std::atomic<int> wrong{0};
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(a);
    auto t = ctx.logical_data(stf::scalar_view<std::int64_t>(&sum));
    auto looked_at = ctx.logical_data(shown);
    {
      const auto parts = ctx.split(d, threads, stf::halo{2});
      std::vector<std::thread> running;
      for (int i = 0; i < threads; ++i)
        running.emplace_back([&, i] {
          machine user = *m;
          stream s = user.new_stream(i % 2);
          for (int round = 0; round < rounds; ++round) {
            const auto where = exec_place::device((i + round) % 2);
            ctx.parallel_for(where, parts[i].shape(), parts[i].rw())
                    ->*STARLING_KERNEL(index_t k, slice<std::int64_t> x) {
              x(k) += 1;
            };
            ctx.task(where, parts.with_halo(i), t.reduce(stf::reducer::sum()))
                    ->*[](stream& w, slice<const std::int64_t>, stf::scalar_view<std::int64_t> mine) {
                          std::int64_t* at = mine.get();
                          w.launch(
                              1, STARLING_KERNEL(block & b) {
                                if (b.member() == 0) *at += 1;
                              });
                        };
            auto f = ctx.freeze(looked_at.read(data_place::host()));
            std::int64_t seen = 0;
            s.copy(&seen, f.get(s).data_handle() + round % 10, sizeof seen);
            s.synchronize();
            if (seen != 7) ++wrong;
            f.unfreeze(s);
          }
        });
      for (auto& r : running) r.join();
    }
    ctx.finalize();
    CHECK(wrong == 0);
    CHECK(a == std::vector<std::int64_t>(40, 1 + rounds));
    CHECK(sum == 5 + threads * rounds);
  }
}

TEST_CASE("of neighbours the halo's rows move alone") {
  const auto m = test_machine(4);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    constexpr index_t n = 400;
    constexpr int steps = 10;
    const line_stencil s{.n = n};
    std::vector<std::int64_t> a(n, 1);
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(a);
    auto e = ctx.logical_data(stf::shape_of<slice<std::int64_t>>(n));
    auto u = ctx.split(d, 4, stf::halo{1});
    auto v = ctx.split(e, 4, stf::halo{1});
    for (int t = 0; t < steps; ++t) {
      for (int i = 0; i < 4; ++i) s.step(ctx, exec_place::device(i), u, v, i);
      std::swap(u, v);
      // Each part once, at first; then six rows of 8 bytes a step. In check mode the host has a copy of its own.
      const std::uint64_t at_first = (m->checking() ? 2 : 1) * n * 8;
      CHECK(ctx.statistics().copied_bytes == at_first + static_cast<std::uint64_t>(t + 1) * 6 * 8);
    }
    // Read again, nothing moves.
    const auto before = ctx.statistics().copies;
    for (int i = 0; i < 4; ++i)
      ctx.task(exec_place::device(i), u.with_halo(i))->*[](stream&, slice<const std::int64_t>) {};
    const auto rows = ctx.statistics().copies;
    CHECK(rows == before + 6);
    for (int i = 0; i < 4; ++i)
      ctx.task(exec_place::device(i), u.with_halo(i))->*[](stream&, slice<const std::int64_t>) {};
    CHECK(ctx.statistics().copies == rows);
    ctx.finalize();
  }
}

}  // namespace
}  // namespace starling::test::parts_moves_tests
