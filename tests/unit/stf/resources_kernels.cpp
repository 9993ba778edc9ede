// Resources that contexts share: what one gives back the next one takes, values are as without, several contexts may
// have them at a time, and what goes first does not matter.
#include "starling/stf/resources.hpp"

#include <optional>
#include <thread>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::resources_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::resources;
using stf::slice;

constexpr stf::backend_kind back_ends[] = {stf::backend_kind::stream, stf::backend_kind::graph,
                                           stf::backend_kind::automatic, stf::backend_kind::persistent};

void apply(stream& s, slice<double> x, double a, double b) {
  s.launch(
      2, STARLING_KERNEL(block & blk) {
        blk.for_each(blk.my_share(x.extent(0)), [&](index_t i) { x(i) = a * x(i) + b; });
      });
}

// Tasks with factors of their own on all devices, with temporary data and reductions; and on the host what they give.
struct program {
  std::vector<double> factors;
  std::size_t n;

  program(random& any, index_t elements) : n(static_cast<std::size_t>(elements)) {
    for (int i = 0; i < 7; ++i) factors.push_back(static_cast<double>(any.below(5)) - 2);
  }
  void run(context& ctx, std::vector<double>& x, double& sum) const {
    auto d = ctx.logical_data(x);
    auto total = ctx.logical_data(stf::scalar_view<double>(&sum));
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const double a = factors[i];
      const auto place = exec_place::device(static_cast<int>(i) % ctx.on().size());
      auto t = ctx.logical_data(d.shape());
      ctx.parallel_for(place, d.shape(), d.read(), t.write())
              ->*STARLING_KERNEL(index_t k, slice<const double> v, slice<double> w) {
        w(k) = v(k) + 1;
      };
      ctx.task(place, t.read(), d.rw())->*[a](stream& s, slice<const double> w, slice<double> v) {
        s.copy(v.data_handle(), w.data_handle(), static_cast<std::size_t>(w.extent(0)) * sizeof(double));
        apply(s, v, a, 3);
      };
      if (i % 3 == 2) ctx.fence();
    }
    ctx.parallel_for(exec_place::all_devices(), d.shape(), d.read(), total.reduce(stf::reducer::sum()))
            ->*STARLING_KERNEL(index_t k, slice<const double> v, double& s) {
      s += v(k);
    };
    ctx.finalize();
  }
  double expected(double x) const {
    for (const double a : factors) x = a * (x + 1) + 3;
    return x;
  }
  // Runs it in a context of its own.
  void check(const machine& m, stf::context_options options, const resources& shared) const {
    options.resources = shared;
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i % 11);
    std::vector<double> wanted;
    double wanted_sum = 0;
    for (const double v : x) wanted_sum += wanted.emplace_back(expected(v));
    double sum = -1;
    context ctx(m, options);
    run(ctx, x, sum);
    CHECK(x == wanted);
    CHECK(sum == wanted_sum);
  }
};

TEST_CASE("contexts one after the other have what those before them had") {
  random any(42);
  INFO("STARLING_TEST_SEED=", any.seed);
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    const resources shared(*m);
    CHECK(shared.on().size() == n_pes);
    std::optional<std::size_t> bytes;
    for (int round = 0; round < 3; ++round) {
      for (const auto backend : back_ends) {
        program(any, 100 + any.below(1000)).check(*m, {.backend = backend}, shared);
        const auto idle = shared.idle();
        CHECK(idle.contexts == 1);
        // All of it came from the first.
        CHECK((idle.bytes > 0) == !m->checking());
        CHECK(idle.bytes == bytes.value_or(idle.bytes));
        bytes = idle.bytes;
      }
    }
    CHECK(shared.idle().graphs > 0);
    resources(shared).release();
    const auto none = shared.idle();
    CHECK(none.contexts == 0);
    CHECK(none.graphs == 0);
    CHECK(none.bytes == 0);
    program(any, 500).check(*m, {}, shared);
  }
}

TEST_CASE("a graph is found again by a later context") {
  const auto m = test_machine(2);
  if (!m) return;
  const resources shared(*m, 2);
  std::vector<double> x(100, 1.0);
  double wanted = 1;
  const auto one = [&](int tasks, double b) {
    context ctx(*m, {.backend = stf::backend_kind::graph, .resources = shared});
    auto d = ctx.logical_data(x);
    for (int i = 0; i < tasks; ++i, wanted = 2 * wanted + b)
      ctx.task(d.rw())->*[b](stream& s, slice<double> v) { apply(s, v, 2, b); };
    ctx.finalize();
    CHECK(x == std::vector<double>(100, wanted));
    return ctx.statistics().graphs_reused;
  };
  CHECK(one(2, 1) == 0);
  CHECK(one(2, 5) == 1);  // with other numbers
  CHECK(one(3, 1) == 0);
  CHECK(one(2, 1) == 1);
  CHECK(one(3, 4) == 1);
  CHECK(one(4, 1) == 0);
  CHECK(shared.idle().graphs == 2);
  CHECK(one(2, 1) == 0);  // the one that was used the longest ago went
}

TEST_CASE("several contexts at a time") {
  random any(43);
  INFO("STARLING_TEST_SEED=", any.seed);
  const auto m = test_machine(2);
  if (!m) return;
  const resources shared(*m);
  constexpr int threads = 3;
  std::vector<program> programs;
  for (int i = 0; i < threads; ++i) programs.emplace_back(any, 200 + any.below(500));
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      for (int round = 0; round < 4; ++round)
        programs[static_cast<std::size_t>(i)].check(*m, {.backend = back_ends[round % 3]}, shared);
    });
  for (std::thread& t : all) t.join();
  CHECK(shared.idle().contexts >= 1);
  CHECK(shared.idle().contexts <= threads);
}

TEST_CASE("handles go in any order") {
  const auto m = test_machine(1);
  if (!m) return;
  std::vector<double> x(10, 1.0);
  {
    std::optional<resources> shared(*m);
    context ctx(*m, {.resources = *shared});
    shared.reset();
    auto d = ctx.logical_data(x);
    ctx.task(d.rw())->*[](stream& s, slice<double> v) { apply(s, v, 2, 1); };
  }
  CHECK(x == std::vector<double>(10, 3.0));
  const resources shared(*m);
  {
    stf::logical_data<slice<double>> d;
    stf::recorded_tasks twice = [&] {
      context ctx(*m, {.resources = shared});
      d = ctx.logical_data(x);
      auto recorded = ctx.record([&] { ctx.task(d.rw())->*[](stream& s, slice<double> v) { apply(s, v, 2, 1); }; });
      recorded.launch(2);
      return recorded;
    }();
    CHECK(shared.idle().contexts == 0);  // they have the context
    twice.launch(1);
  }
  CHECK(x == std::vector<double>(10, 31.0));
  CHECK(shared.idle().contexts == 1);
}

TEST_CASE("within a stream of the user") {
  random any(44);
  INFO("STARLING_TEST_SEED=", any.seed);
  const auto m = test_machine(2);
  if (!m) return;
  machine user = *m;
  stream s = user.new_stream(1);
  const resources shared(*m);
  for (const bool recorded : {false, true, false}) {
    const program p(any, 300);
    std::vector<double> x(p.n, 2.0);
    double sum = 0;
    const auto work = [&] {
      stf::stream_ctx ctx(*m, s, {.resources = shared});
      p.run(ctx, x, sum);
    };
    if (recorded)
      user.record(s, work).launch(s);
    else
      work();
    s.synchronize();
    CHECK(x == std::vector<double>(p.n, p.expected(2)));
    program(any, 300).check(*m, {.backend = stf::backend_kind::graph}, shared);
  }
}

// Capped contexts take no more than their cap of what others have left; what is idle gives way to other needs.
TEST_CASE("memory of several sizes") {
  if (skipped_on_gpus("have so little")) return;
  constexpr std::size_t mebi = std::size_t{1} << 20;
  const machine m = machine::host(1, {.memory_bytes = 16 * mebi});
  const resources shared(m);
  const auto touch = [&](std::size_t bytes, std::size_t cap) {
    context ctx(m, {.device_memory = cap, .resources = shared});
    auto d = ctx.logical_data(stf::shape_of<slice<char>>(static_cast<index_t>(bytes)));
    ctx.task(d.write())->*[bytes](stream& s, slice<char> v) { s.fill(v.data_handle(), 7, bytes); };
    if (cap > 0) CHECK(ctx.statistics().places.front().reserved <= cap);
    CHECK(ctx.wait(d)(static_cast<index_t>(bytes) - 1) == 7);
  };
  touch(5 * mebi, 0);
  touch(mebi, 2 * mebi);
  touch(10 * mebi, 0);  // together they do not fit
  touch(6 * mebi, 7 * mebi);
  touch(11 * mebi, 0);
}

TEST_CASE("after tasks that failed, and after an exception past the context") {
  if (skipped_on_gpus("have threads that throw in kernels")) return;
  random any(45);
  INFO("STARLING_TEST_SEED=", any.seed);
  const machine m = machine::host(2);
  const resources shared(m);
  for (const auto backend : back_ends) {
    std::vector<double> x(50, 1.0);
    {
      context ctx(m, {.backend = backend, .resources = shared});
      auto d = ctx.logical_data(x);
      ctx.host_launch(d.rw())->*[](slice<double>) { throw std::runtime_error("on the host"); };
      CHECK_THROWS_AS(ctx.finalize(), std::runtime_error);
    }
    program(any, 100).check(m, {.backend = backend}, shared);
    try {
      context ctx(m, {.backend = backend, .resources = shared});
      auto d = ctx.logical_data(x);
      ctx.task(d.rw())->*[](stream& s, slice<double> v) { apply(s, v, 2, 1); };
      throw std::runtime_error("past it");
    } catch (const std::runtime_error&) {
    }
    program(any, 100).check(m, {.backend = backend}, shared);
  }
}

}  // namespace
}  // namespace starling::test::resources_tests
