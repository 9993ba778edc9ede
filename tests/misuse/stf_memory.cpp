// Too little memory: one task needs more than there is, several threads compete, data goes at random points.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/stf/back_ends.hpp"
#include "support/stf/bodies.hpp"
#include "support/task_program.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_memory_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;

TEST_CASE("a cap that is too small for one task") {
  machine m = machine::host(2);
  for (const auto backend : stream_and_graph) {
    context ctx(m, {.backend = backend, .device_memory = 2048});
    std::vector<int> a(256, 1), b(256, 2), large(600, 3);
    auto lA = ctx.logical_data(a).set_symbol("a");
    auto lB = ctx.logical_data(b).set_symbol("b");
    auto lLarge = ctx.logical_data(large).set_symbol("large");
    ctx.task(lA.rw())->*increase;
    // One datum is too large by itself, or with the others of its task.
    check_parts(failure_of<memory_error>([&] { ctx.task(lLarge.rw())->*increase; }),
                {"'large'", "2.344 KiB", "device 0", "2 KiB (the cap)", "larger cap"});
    auto lHalf = ctx.logical_data(stf::shape_of<slice<int>>(200)).set_symbol("half");
    check_parts(failure_of<memory_error>([&] {
                  ctx.task(lA.rw(), lB.rw(), lHalf.write())->*[](stream&, slice<int>, slice<int>, slice<int>) {};
                }),
                {"'half'", "800 B", "0 B in one piece", "at once"});
    // Nothing is lost, also of those that had their place already; and smaller tasks go on.
    for (int i = 0; i < 3; ++i) {
      ctx.task(lA.rw(), lB.rw())->*[](stream& s, slice<int> x, slice<int> y) {
        increase(s, x);
        increase(s, y);
      };
      ctx.task(lHalf.write())->*[](stream& s, slice<int> x) { s.fill(x.data_handle(), 0, 800); };
    }
    ctx.task(exec_place::device(1), lA.rw())->*increase;
    CHECK(ctx.wait(lHalf)(199) == 0);
    ctx.finalize();
    CHECK(a == std::vector<int>(256, 6));
    CHECK(b == std::vector<int>(256, 5));
    CHECK(large == std::vector<int>(600, 3));
    for (const stf::place_usage& u : ctx.statistics().places) {
      CHECK(u.in_use == 0);
      if (u.pe >= 0) CHECK(u.reserved <= 2048);
    }
    check_usable(m);
  }
}

TEST_CASE("a cap that is too small for anything") {
  machine m = machine::host(1);
  context ctx(m, {.device_memory = 100});
  std::vector<int> x(1, 1);
  auto d = ctx.logical_data(x);
  check_parts(failure_of<memory_error>([&] { ctx.task(d.rw())->*increase; }), {"4 B", "100 B (the cap)"});
  ctx.host_launch(d.rw())->*[](slice<int> v) { v(0) = 7; };
  ctx.finalize();
  CHECK(x[0] == 7);
  check_usable(m);
}

TEST_CASE("a machine that is full") {
  machine m = machine::host(1, {.memory_bytes = std::size_t{16} << 20});
  for (const auto backend : stream_and_graph) {
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(stf::shape_of<slice<char>>(index_t{1} << 40)).set_symbol("huge");
    check_parts(failure_of<memory_error>([&] { ctx.task(d.write())->*[](stream&, slice<char>) {}; }),
                {"'huge'", "1 TiB"});
    ctx.finalize();
    check_usable(m);
  }
}

// What a reduction leaves for the next one gives way to data.
TEST_CASE("reductions and data share a cap") {
  machine m = machine::host(1);
  constexpr index_t n = 40'000;
  context ctx(m, {.device_memory = std::size_t{300} << 10});
  std::vector<int> x(n, 1);
  int sum = 0;
  auto lX = ctx.logical_data(x);
  auto lSum = ctx.logical_data(stf::scalar_view<int>(&sum));
  auto large = ctx.logical_data(stf::shape_of<slice<char>>(299 << 10));
  for (int i = 0; i < 3; ++i) {
    ctx.parallel_for(lX.shape(), lX.read(), lSum.reduce(stf::reducer::sum(), stf::no_init()))
            ->*[](index_t k, slice<const int> v, int& s) { s += v(k); };
    ctx.task(large.write())->*[](stream& s, slice<char> c) { s.fill(c.data_handle(), 0, 299 << 10); };
  }
  ctx.finalize();
  CHECK(sum == 3 * n);
  check_usable(m);
}

// Each thread's task fits alone; while another thread holds the memory it waits.
TEST_CASE("threads that compete for the memory of one device") {
  machine m = machine::host(1);
  constexpr int rounds = 40;
  std::vector<std::vector<int>> values(6, std::vector<int>(256, 0));
  context ctx(m, {.device_memory = 2048});
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (std::size_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      auto a = ctx.logical_data(values[2 * t]);
      auto b = ctx.logical_data(values[2 * t + 1]);
      try {
        for (int i = 0; i < rounds; ++i)
          ctx.task(a.rw(), b.rw())->*[](stream& s, slice<int> x, slice<int> y) {
            increase(s, x);
            increase(s, y);
          };
      } catch (const error&) {
        ++failures;
      }
    });
  for (auto& t : threads) t.join();
  ctx.finalize();
  CHECK(failures == 0);
  for (const auto& v : values) CHECK(v == std::vector<int>(256, rounds));
  check_usable(m);
}

// More threads than a device has streams: their reductions share streams, not partial sums.
TEST_CASE("many threads reduce on one device") {
  machine m = machine::host(1);
  constexpr int threads = 8;
  constexpr index_t n = 3000;
  std::vector<int> x(n, 1);
  std::vector<int> sums(threads, 0);
  context ctx(m);
  auto lX = ctx.logical_data(x);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      auto sum = ctx.logical_data(stf::scalar_view<int>(&sums[static_cast<std::size_t>(t)]));
      for (int i = 0; i < 20; ++i)
        ctx.parallel_for(lX.shape(), lX.read(), sum.reduce(stf::reducer::sum(), stf::no_init()))
                ->*[t](index_t k, slice<const int> v, int& s) { s += v(k) * (t + 1); };
    });
  for (auto& t : running) t.join();
  ctx.finalize();
  for (int t = 0; t < threads; ++t) CHECK(sums[static_cast<std::size_t>(t)] == 20 * n * (t + 1));
  check_usable(m);
}

// Handles go while their tasks wait; temporaries come and go; with and without a cap.
TEST_CASE("data destroyed at random points") {
  random r(6);
  for (int trial = 0; trial < 30; ++trial) {
    const int n_pes = 1 + static_cast<int>(r.below(3));
    machine m = machine::host(n_pes);
    const task_program p = random_task_program(r, n_pes, 6, 40);
    task_values expected = random_task_values(r, p);
    task_values values = expected;
    run_in_order(p, expected);
    const std::size_t cap = r.below(2) == 0 ? 0 : 4 * 768;
    const auto backend = stream_and_graph[r.below(2)];
    INFO("seed " << r.seed << ", trial " << trial << ", cap " << cap << "\n" << p.text());
    context ctx(m, {.backend = backend, .device_memory = cap});
    std::vector<stf::logical_data<int_slice>> data;
    for (auto& v : values) data.push_back(ctx.logical_data(v));
    for (const task_step& s : p.steps) {
      submit(ctx, s, data);
      const auto gone = static_cast<std::size_t>(r.below(6));
      // Its value is in the user's memory after a wait, and comes from there again.
      if (r.below(8) == 0) {
        data[gone] = {};
        ctx.synchronize();
        ctx.task()->*[](stream&) {};
        ctx.synchronize();
        data[gone] = ctx.logical_data(values[gone]);
      }
      if (r.below(4) == 0) {
        auto temporary = ctx.logical_data(stf::shape_of<int_slice>(p.length));
        ctx.task(exec_place::device(static_cast<int>(r.below(n_pes))), temporary.write())->*[](stream& w, int_slice t) {
          w.launch(2, step_kernel{t});
        };
      }
    }
    while (!data.empty()) data.erase(data.begin() + r.below(static_cast<index_t>(data.size())));
    ctx.finalize();
    CHECK(values == expected);
    check_usable(m);
  }
}

TEST_CASE("secrets fill a device") {
  machine m = machine::host(1);
  context ctx(m, {.device_memory = 64 << 10});
  auto secret = ctx.logical_data(stf::shape_of<slice<char>>(40 << 10)).set_symbol("key").set_secret();
  auto other = ctx.logical_data(stf::shape_of<slice<char>>(40 << 10)).set_symbol("other");
  const auto clear = [](stream& s, slice<char> v) { s.fill(v.data_handle(), 1, static_cast<std::size_t>(v.size())); };
  ctx.task(secret.write())->*clear;
  check_parts(failure_of<memory_error>([&] { ctx.task(other.write())->*clear; }),
              {"'other'", "device 0", "moved away"});
  // Without it there is room.
  secret = {};
  ctx.task(other.write())->*clear;
  CHECK(ctx.wait(other)(5) == 1);
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("a secret that somebody has already") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> x(8, 1);
  auto d = ctx.logical_data(x).set_symbol("x");
  {
    auto f = ctx.freeze(d.read());
    check_parts(failure_of<argument_error>([&] { d.set_secret(); }),
                {"set_secret", "'x'", "is frozen", "when the data is made"});
  }
  check_parts(failure_of<argument_error>([&] { stf::logical_data<slice<int>>().set_secret(); }), {"none"});
  d.set_secret();
  d.set_secret();
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("secrets of each round in a persistent program") {
  machine m = machine::host(1);
  stf::persistent_ctx ctx(m);
  check_parts(failure_of<stf::task_error>([&] {
                ctx.repeat(2, [&] {
                  auto d = ctx.logical_data(stf::shape_of<slice<int>>(8)).set_secret();
                  ctx.parallel_for(d.shape(), d.write())->*[](index_t i, slice<int> v) { v(i) = 1; };
                });
              }),
              {"wiped in each round", "set_secret"});
  ctx.finalize();
  check_usable(m);
}

// An exception that unwinds past the handle and the context.
TEST_CASE("secrets and exceptions") {
  machine m = machine::host(1);
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    std::vector<int> x(8, 1);
    try {
      context ctx(m, {.backend = backend});
      auto users = ctx.logical_data(x).set_secret();
      auto own = ctx.logical_data(stf::shape_of<slice<int>>(8)).set_secret();
      ctx.task(users.rw(), own.write())->*[](stream& s, slice<int> v, slice<int> w) {
        s.fill(v.data_handle(), 0, 32);
        s.fill(w.data_handle(), 0, 32);
      };
      throw std::runtime_error("no");
    } catch (const std::runtime_error& e) {
      CHECK(std::string(e.what()) == "no");
    }
    CHECK(x == std::vector<int>(8, 1));
  }
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_memory_tests
