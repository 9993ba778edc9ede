// Allocators of users: contexts compute on their memory and nothing else, wait for what they have put into their
// streams, keep to caps and limits, and give all of it back.
#include "starling/stf/allocator.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::allocator_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;

constexpr stf::backend_kind back_ends[] = {stf::backend_kind::stream, stf::backend_kind::graph,
                                           stf::backend_kind::automatic};

void add(stream& s, slice<double> x, double b) {
  s.launch(2, STARLING_KERNEL(block & blk) { blk.for_each(blk.my_share(x.extent(0)), [&](index_t i) { x(i) += b; }); });
}

// So many vectors of a length each, which tasks at random places add to, with temporary data and sums.
struct program {
  std::vector<std::vector<double>> values;
  std::vector<std::vector<double>> expected;
  double sum = 0, expected_sum = 0;

  program(int count, index_t n) : values(static_cast<std::size_t>(count), std::vector<double>(n, 1.0)) {
    expected = values;
  }
  void run(context& ctx, random& any, int steps, const std::function<void(const void*)>& seen) {
    std::vector<stf::logical_data<slice<double>>> data;
    for (auto& v : values) data.push_back(ctx.logical_data(v));
    auto total = ctx.logical_data(stf::scalar_view<double>(&sum));
    for (int k = 0; k < steps; ++k) {
      const auto i = static_cast<std::size_t>(any.below(static_cast<index_t>(data.size())));
      const auto place = exec_place::device(static_cast<int>(any.below(ctx.on().size())));
      const double b = static_cast<double>(any.below(9));
      auto t = ctx.logical_data(data[i].shape());
      ctx.parallel_for(place, t.shape(), data[i].read(), t.write())
              ->*STARLING_KERNEL(index_t j, slice<const double> v, slice<double> w) {
        w(j) = v(j) + 1;
      };
      ctx.task(place, t.read(), data[i].write())->*[&](stream& s, slice<const double> w, slice<double> v) {
        seen(w.data_handle());
        seen(v.data_handle());
        s.copy(v.data_handle(), w.data_handle(), static_cast<std::size_t>(w.extent(0)) * sizeof(double));
        add(s, v, b);
      };
      for (double& v : expected[i]) v += 1 + b;
      if (any.below(10) == 0) ctx.fence();
    }
    ctx.parallel_for(data[0].shape(), data[0].read(), total.reduce(stf::reducer::sum()))
            ->*STARLING_KERNEL(index_t j, slice<const double> v, double& s) {
      s += v(j);
    };
    expected_sum = static_cast<double>(values[0].size()) * expected[0][0];
  }
  void check() const {
    CHECK(values == expected);
    CHECK(sum == expected_sum);
  }
};

TEST_CASE("instances are the allocator's, and all of them come back") {
  random any(51);
  INFO(any.seed);
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : back_ends) {
      const auto devices = std::make_shared<counting_allocator>(*m);
      const auto hosts = std::make_shared<counting_allocator>(*m);
      program p(5, 100 + any.below(400));
      context ctx(*m, {.backend = backend, .device_allocator = devices, .host_allocator = hosts});
      p.run(ctx, any, 40, [&](const void* start) {
        if (!devices->has(start)) FAIL_CHECK("memory that is not the allocator's");
      });
      auto here = ctx.logical_data(stf::shape_of<slice<double>>(10)).set_symbol("here");
      ctx.host_launch(here.write())->*[&](slice<double> v) {
        if (!hosts->has(v.data_handle())) FAIL_CHECK("memory of the host that is not the allocator's");
      };
      CHECK(devices->bytes() > 0);
      CHECK(hosts->bytes() > 0);
      ctx.finalize();
      p.check();
      CHECK(devices->bytes() == 0);
      CHECK(hosts->bytes() == 0);
      CHECK(devices->nothing_wrong());
      CHECK(hosts->nothing_wrong());
      for (const auto& u : ctx.statistics().places) {
        CHECK(u.in_use == 0);
        CHECK(u.reserved == 0);
        CHECK(u.most_in_use > 0);
      }
    }
  }
}

TEST_CASE("one for devices alone, beside resources that are shared") {
  random any(52);
  INFO(any.seed);
  const auto m = test_machine(1);
  if (!m) return;
  const stf::resources shared(*m);
  const auto devices = std::make_shared<counting_allocator>(*m);
  for (int round = 0; round < 3; ++round) {
    program p(2, 100);
    context ctx(*m, {.resources = shared, .device_allocator = devices});
    p.run(ctx, any, 10, [&](const void* start) { CHECK(devices->has(start)); });
    ctx.host_launch(ctx.logical_data(stf::shape_of<slice<double>>(10)).write())->*[](slice<double>) {};
    ctx.finalize();
    p.check();
    CHECK(devices->bytes() == 0);
  }
  CHECK(devices->nothing_wrong());
}

TEST_CASE("a cap on memory of an allocator") {
  random any(53);
  INFO(any.seed);
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : back_ends) {
    const auto devices = std::make_shared<counting_allocator>(*m);
    program p(8, 16384);
    constexpr std::size_t cap = 5 * (128 << 10) + 1024;
    context ctx(*m, {.backend = backend, .device_memory = cap, .device_allocator = devices});
    p.run(ctx, any, 60, [](const void*) {});
    ctx.finalize();
    p.check();
    CHECK(devices->most(0) <= cap);
    CHECK(devices->bytes() == 0);
    CHECK(ctx.statistics().evictions > 0);
  }
}

TEST_CASE("an allocator that has no more memory") {
  random any(54);
  INFO(any.seed);
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : back_ends) {
    for (const bool throws : {false, true}) {
      constexpr std::size_t limit = 6 * (128 << 10);
      const auto devices = std::make_shared<counting_allocator>(*m, limit, throws);
      program p(8, 16384);
      context ctx(*m, {.backend = backend, .device_allocator = devices});
      p.run(ctx, any, 60, [](const void*) {});
      ctx.finalize();
      p.check();
      CHECK(devices->most(0) <= limit);
      CHECK(devices->refused() > 0);
      CHECK(devices->bytes() == 0);
      CHECK(devices->nothing_wrong());
      CHECK(ctx.statistics().evictions > 0);
    }
  }
}

TEST_CASE("what a recording holds comes back with it") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : back_ends) {
    const auto devices = std::make_shared<counting_allocator>(*m);
    std::vector<double> x(100, 1.0);
    {
      std::optional<context> ctx(std::in_place, *m,
                                 stf::context_options{.backend = backend, .device_allocator = devices});
      auto d = ctx->logical_data(x);
      const auto twice = ctx->record([&] {
        auto t = ctx->logical_data(d.shape());
        ctx->parallel_for(d.shape(), d.read(), t.write())
                ->*STARLING_KERNEL(index_t i, slice<const double> v, slice<double> w) {
          w(i) = 2 * v(i);
        };
        ctx->parallel_for(d.shape(), t.read(), d.write())
                ->*STARLING_KERNEL(index_t i, slice<const double> w, slice<double> v) {
          v(i) = w(i);
        };
      });
      twice.launch(3);
      ctx->finalize();
      CHECK(x == std::vector<double>(100, 8.0));
      CHECK(devices->bytes() > 0);
      ctx.reset();
    }
    CHECK(devices->bytes() == 0);
    CHECK(devices->nothing_wrong());
  }
}

TEST_CASE("within a stream of the user") {
  random any(55);
  INFO(any.seed);
  const auto m = test_machine(2);
  if (!m) return;
  machine user = *m;
  stream s = user.new_stream(0);
  const auto devices = std::make_shared<counting_allocator>(*m);
  for (const bool recorded : {false, true}) {
    program p(3, 200);
    const auto work = [&] {
      stf::stream_ctx ctx(*m, s, {.device_allocator = devices});
      p.run(ctx, any, 10, [](const void*) {});
      ctx.finalize();
    };
    if (recorded) {
      std::optional<graph> g = user.record(s, work);
      CHECK(devices->bytes() > 0);
      g->launch(s);
      s.synchronize();
    } else {
      work();
      s.synchronize();
    }
    p.check();
    CHECK(devices->bytes() == 0);
    CHECK(devices->nothing_wrong());
  }
}

TEST_CASE("several contexts and threads with one allocator") {
  random any(56);
  INFO(any.seed);
  const auto m = test_machine(2);
  if (!m) return;
  const auto devices = std::make_shared<counting_allocator>(*m);
  std::vector<std::thread> all;
  for (std::uint64_t i = 0; i < 3; ++i)
    all.emplace_back([&, seed = any.next()] {
      random own(seed);
      program p(3, 100);
      context ctx(*m, {.device_allocator = devices});
      p.run(ctx, own, 30, [](const void*) {});
      ctx.finalize();
      p.check();
    });
  for (std::thread& t : all) t.join();
  CHECK(devices->bytes() == 0);
  CHECK(devices->nothing_wrong());
}

}  // namespace
}  // namespace starling::test::allocator_tests
