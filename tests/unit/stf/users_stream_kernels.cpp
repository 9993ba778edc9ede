// Contexts within a stream of the user: after what it has, before what it gets, without waiting; and as a part of what
// is recorded.
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::users_stream_tests {
namespace {

using stf::exec_place;
using stf::scalar_view;
using stf::slice;
using stf::stream_ctx;

void apply(stream& s, slice<double> y, double a, double b) {
  s.launch(
      3, STARLING_KERNEL(block & blk) {
        blk.for_each(blk.my_share(y.extent(0)), [&](index_t i) { y(i) = a * y(i) + b; });
      });
}

void on_host(stream& s, std::vector<double>& x, double b) {
  s.call([&x, b] {
    for (double& v : x) v += b;
  });
}

// Tasks on all devices with parts, reductions and temporary data; what a value becomes by them.
void work(stf::context& ctx, std::vector<double>& x, double& sum) {
  const int n_pes = ctx.on().size();
  auto d = ctx.logical_data(x);
  auto t = ctx.logical_data(scalar_view<double>(&sum));
  for (int pe = 0; pe < n_pes; ++pe)
    ctx.task(exec_place::device(pe), d.rw())->*[](stream& s, slice<double> v) { apply(s, v, 2, 1); };
  {
    auto parts = ctx.split(d, n_pes + 1);
    for (int i = 0; i < parts.size(); ++i)
      ctx.task(exec_place::device(i % n_pes), parts[i].rw())->*[](stream& s, slice<double> v) { apply(s, v, 1, 3); };
  }
  auto copy = ctx.logical_data(stf::shape_of<slice<double>>(d.shape().size()));
  ctx.parallel_for(exec_place::all_devices(), d.shape(), d.read(), copy.write(), t.reduce(stf::reducer::sum()))
          ->*STARLING_KERNEL(index_t i, slice<const double> v, slice<double> c, double& s) {
    c(i) = v(i);
    s += v(i);
  };
  ctx.task(exec_place::device(n_pes - 1), copy.read(), d.write())
          ->*[](stream& s, slice<const double> c, slice<double> v) {
                s.copy(v.data_handle(), c.data_handle(), static_cast<std::size_t>(c.extent(0)) * sizeof(double));
                apply(s, v, 1, 10);
              };
  ctx.finalize();
}
double worked(double x, int n_pes) {
  for (int pe = 0; pe < n_pes; ++pe) x = 2 * x + 1;
  return x + 13;
}

// Rounds of a context within the work of a stream; every second one with what contexts share. `late`: that work keeps
// the stream busy first.
template <class Context>
void check_between_work(int rounds, bool late) {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    machine user = *m;
    stream s = user.new_stream(n_pes - 1);
    const stf::resources shared(*m);
    std::vector<double> x(50, 1.0);
    double sum = -1;
    double expected = 1;
    for (int round = 0; round < rounds; ++round) {
      if (late) s.call([] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
      on_host(s, x, 5);
      stf::context_options options{.device_memory = std::size_t{512} << 10};
      if (round % 2 == 1) options = {.resources = shared};
      Context ctx(*m, s, options);
      work(ctx, x, sum);
      on_host(s, x, 7);
      expected = worked(expected + 5, n_pes) + 7;
    }
    s.synchronize();
    CHECK(x == std::vector<double>(50, expected));
    CHECK(sum == 50 * (expected - 17));
  }
}

TEST_CASE("between the work of a stream") { check_between_work<stream_ctx>(3, false); }

// The stream's own work ends only after finalize has returned.
TEST_CASE("finalize does not wait") {
  const auto m = test_machine(2);
  if (!m) return;
  machine user = *m;
  stream s = user.new_stream(0);
  std::vector<double> x(50, 1.0);
  std::atomic<bool> finalized{false};
  std::atomic<bool> held{false};
  double sum = -1;
  {
    s.call([&] {
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!finalized && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      held = finalized.load();
    });
    stream_ctx ctx(*m, s);
    work(ctx, x, sum);
    CHECK(sum == -1);
    finalized = true;
  }  // waits
  CHECK(held);
  CHECK(x[0] == worked(1, 2));
  s.synchronize();
}

// Whatever the stream has when the first task of an epoch is submitted comes before it, not only what it had when the
// context was made.
TEST_CASE("the stream's work between the context and its first task, and between epochs") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const bool recorded : {false, true}) {
      machine user = *m;
      stream s = user.new_stream(0);
      std::atomic<int> value{0};
      constexpr int epochs = 3;
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(epochs * n_pes));
      const auto program = [&] {
        stream_ctx ctx(*m, s);
        auto source = ctx.token();
        for (int epoch = 0; epoch < epochs; ++epoch) {
          // So late that a task that does not wait overtakes it.
          s.call([&value, epoch] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            value = epoch + 1;
          });
          for (int pe = 0; pe < n_pes; ++pe) {
            std::atomic<int>& here = seen[static_cast<std::size_t>(epoch * n_pes + pe)];
            ctx.task(exec_place::device(pe), source.read())->*[&](stream& w) { w.call([&] { here = value.load(); }); };
          }
          // The next work of the stream changes what these tasks read.
          auto f = ctx.freeze(source.rw());
          f.get(s);
          f.unfreeze(s);
          ctx.fence();
        }
        ctx.finalize();
      };
      if (recorded) {
        const graph g = user.record(s, program);
        g.launch(s);
        s.synchronize();
      } else {
        program();
        s.synchronize();
      }
      for (int epoch = 0; epoch < epochs; ++epoch)
        for (int pe = 0; pe < n_pes; ++pe) CHECK(seen[static_cast<std::size_t>(epoch * n_pes + pe)] == epoch + 1);
    }
  }
}

// A graph comes after what the stream has when the epoch ends, so also after what came between its tasks.
TEST_CASE("graphs between the work of a stream") { check_between_work<stf::graph_ctx>(4, true); }

TEST_CASE("several graphs in a stream, and values that the host waits for") {
  const auto m = test_machine(2);
  if (!m) return;
  machine user = *m;
  stream s = user.new_stream(1);
  std::atomic<int> value{0};
  std::vector<int> seen(4, -1), counts(4, 0);
  stf::graph_ctx ctx(*m, s);
  auto d = ctx.logical_data(counts);
  for (int epoch = 0; epoch < 4; ++epoch) {
    ctx.host_launch(d.rw())->*[&, epoch](slice<int> v) {
      seen[static_cast<std::size_t>(epoch)] = value.load();
      v(epoch) = v(epoch > 0 ? epoch - 1 : 0) + 1;
    };
    s.call([&value, epoch] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      value = epoch + 1;
    });
    ctx.fence();
    if (epoch == 1) CHECK(ctx.wait(d)(1) == 2);
  }
  ctx.finalize();
  s.synchronize();
  // Each comes after what the stream had at its fence, and does not hold up what the stream gets later.
  for (int epoch = 0; epoch < 4; ++epoch) CHECK(seen[static_cast<std::size_t>(epoch)] > epoch);
  CHECK(counts == std::vector<int>{1, 2, 3, 4});
  CHECK(ctx.statistics().epochs >= 4);
}

TEST_CASE("as a part of what is recorded") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    machine user = *m;
    stream s = user.new_stream(0);
    std::vector<double> x(50, 1.0);
    double sum = -1;
    std::optional<graph> g = user.record(s, [&] {
      on_host(s, x, 5);
      stream_ctx ctx(*m, s);
      work(ctx, x, sum);
      on_host(s, x, 7);
    });
    CHECK(x[0] == 1);
    CHECK(sum == -1);
    double expected = 1;
    for (int launch = 0; launch < 3; ++launch) {
      g->launch(s);
      expected = worked(expected + 5, n_pes) + 7;
    }
    g.reset();
    s.synchronize();
    CHECK(x == std::vector<double>(50, expected));
    CHECK(sum == 50 * (expected - 17));
    // The machine is as before.
    stream_ctx ctx(*m, s);
    work(ctx, x, sum);
    s.synchronize();
    CHECK(x[0] == worked(expected, n_pes));
  }
}

// Two streams of the user, which waits for neither.
TEST_CASE("two contexts in two streams") {
  const auto m = test_machine(2);
  if (!m) return;
  machine user = *m;
  stream s = user.new_stream(0);
  stream t = user.new_stream(1);
  std::vector<double> x(50, 1.0), y(50, 2.0);
  double sum_x = 0, sum_y = 0;
  stream_ctx first(*m, s);
  stream_ctx second(*m, t);
  work(first, x, sum_x);
  work(second, y, sum_y);
  event both = user.new_event(1);
  t.record(both);
  s.wait(both);
  on_host(s, x, 1);
  on_host(s, y, 1);
  s.synchronize();
  CHECK(x[0] == worked(1, 2) + 1);
  CHECK(y[0] == worked(2, 2) + 1);
}

}  // namespace
}  // namespace starling::test::users_stream_tests
