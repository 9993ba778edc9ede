// Tasks that reduce within recorded tasks: each launch adds what they add to the value that is there by then, whoever
// has added to it outside.
#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/test_machine.hpp"

namespace starling::test::recorded_reductions_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::scalar_view;
using stf::slice;
namespace reducer = stf::reducer;

void add(stream& s, slice<double> x, double what) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) += what; }); });
}

struct step {
  enum { sums, sum_of_host, sum_anew, change, look, kinds };
  index_t kind = sums;
  int pe = 0;
  double what = 0;
};

struct both {
  std::vector<double> all;
  double total;
};

struct logical {
  stf::logical_data<slice<double>> all;
  stf::logical_data<scalar_view<double>> total;
};

std::vector<step> random_steps(random& r, int n_pes, index_t count) {
  std::vector<step> steps;
  for (index_t i = 0; i < count; ++i)
    steps.push_back({r.below(step::kinds), static_cast<int>(r.below(n_pes)), r.real() * 1e3});
  return steps;
}

void submit(context& ctx, const step& s, const logical& d) {
  const exec_place where = exec_place::device(s.pe);
  const double what = s.what;
  switch (s.kind) {
    case step::sums:
      ctx.task(where, d.all.reduce(reducer::sum()), d.total.reduce(reducer::sum(), stf::no_init()))
              ->*[what](stream& w, slice<double> v, scalar_view<double> one) {
                    add(w, v, what);
                    add(w, slice<double>(one.get(), 1), what);
                  };
      break;
    case step::sum_of_host:
      ctx.host_launch(d.total.reduce(reducer::sum()))->*[what](scalar_view<double> one) { *one += what; };
      break;
    case step::sum_anew:
      ctx.task(where, d.total.reduce(reducer::sum(), stf::do_init()))->*[what](stream& w, scalar_view<double> one) {
        add(w, slice<double>(one.get(), 1), what);
      };
      break;
    case step::change:
      ctx.task(where, d.all.rw())->*[what](stream& w, slice<double> v) { add(w, v, what); };
      break;
    default:
      ctx.task(where, d.total.read(), d.all.rw())->*[](stream& w, scalar_view<const double> one, slice<double> v) {
        w.launch(
            1, STARLING_KERNEL(block & b) {
              b.for_each(b.my_share(v.extent(0)), [&](index_t i) { v(i) = v(i) / 2 + *one; });
            });
      };
  }
}

void done(const step& s, both& x) {
  if (s.kind == step::sum_anew) {
    x.total = s.what;
  } else if (s.kind == step::sum_of_host) {
    x.total += s.what;
  } else {
    if (s.kind == step::sums) x.total += s.what;
    for (double& v : x.all) v = s.kind == step::look ? v / 2 + x.total : v + s.what;
  }
}

void done(const std::vector<step>& steps, both& x) {
  for (const step& s : steps) done(s, x);
}

TEST_CASE("random reductions, recorded and launched among others") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 4);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      both values{std::vector<double>(static_cast<std::size_t>(1 + r.below(50)), 0.1), 0.3};
      both expected = values;
      const std::vector<step> body = random_steps(r, n_pes, 1 + r.below(seed % 3 == 0 ? 40 : 6));
      context ctx(*m, {.backend = backend});
      {
        const logical d{ctx.logical_data(values.all), ctx.logical_data(scalar_view<double>(&values.total))};
        const auto outside = [&] {
          const std::vector<step> some = random_steps(r, n_pes, r.below(4));
          for (const step& s : some) submit(ctx, s, d);
          done(some, expected);
        };
        outside();
        const stf::recorded_tasks recorded = ctx.record([&] {
          for (const step& s : body) submit(ctx, s, d);
        });
        for (int k = 0; k < 5; ++k) {
          outside();
          const auto rounds = static_cast<std::uint64_t>(1 + r.below(3));
          recorded.launch(rounds);
          for (std::uint64_t i = 0; i < rounds; ++i) done(body, expected);
          if (r.below(4) == 0) CHECK(ctx.wait(d.total) == expected.total);
        }
        outside();
      }
      ctx.finalize();
      CHECK(values.all == expected.all);
      CHECK(values.total == expected.total);
    }
}

TEST_CASE("sums of data that the body makes, and of data without a value") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    double out = -1;
    double seen = 0;
    context ctx(*m, {.backend = backend});
    auto result = ctx.logical_data(scalar_view<double>(&out));
    auto fresh = ctx.logical_data(stf::shape_of<scalar_view<double>>());
    const auto give = [&](auto use, int pe, double what) {
      ctx.task(exec_place::device(pe), use)->*[what](stream& s, scalar_view<double> x) {
        add(s, slice<double>(x.get(), 1), what);
      };
    };
    ctx.repeat(3, [&] {
      auto made = ctx.logical_data(stf::shape_of<scalar_view<double>>());
      give(made.reduce(reducer::sum(), stf::do_init()), 0, 1);
      give(made.reduce(reducer::sum()), 1, 2);
      give(fresh.reduce(reducer::sum(), stf::do_init()), 1, 10);
      give(fresh.reduce(reducer::sum()), 0, 20);
      ctx.task(made.read(), result.write())->*[](stream& s, scalar_view<const double> x, scalar_view<double> o) {
        s.copy(o.get(), x.get(), sizeof(double));
      };
    });
    seen = ctx.wait(fresh);
    ctx.finalize();
    CHECK(out == 3);
    CHECK(seen == 30);
  }
}

// A recording that ends in an error leaves what was added before it, and nothing of its own.
TEST_CASE("sums round a recording that fails") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    double total = 1;
    context ctx(*m, {.backend = backend});
    auto t = ctx.logical_data(scalar_view<double>(&total));
    auto none = ctx.logical_data(stf::shape_of<scalar_view<double>>());
    const auto give = [&](const auto& d, int pe, double what) {
      ctx.task(exec_place::device(pe), d.reduce(reducer::sum()))->*[what](stream& s, scalar_view<double> x) {
        add(s, slice<double>(x.get(), 1), what);
      };
    };
    const auto in_use = [&] {
      std::size_t bytes = 0;
      for (const auto& p : ctx.statistics().places) bytes += p.in_use;
      return bytes;
    };
    give(t, 0, 2);
    const std::size_t before = in_use();
    CHECK_THROWS_AS((void)ctx.record([&] {
      give(t, 1, 100);
      throw argument_error("on purpose");
    }),
                    argument_error);
    CHECK_THROWS_AS((void)ctx.record([&] {
      give(t, 1, 100);
      give(none, 0, 100);
    }),
                    argument_error);
    CHECK(in_use() == before);
    give(t, 1, 4);
    ctx.finalize();
    CHECK(total == 7);
  }
}

}  // namespace
}  // namespace starling::test::recorded_reductions_tests
