// A loop over all parts of split data, with a task for each: values, sums, where the parts run, and what they wait for.
#include <atomic>
#include <chrono>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/test_machine.hpp"

namespace starling::test::parts_loop_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;

// Sums of neighbours on a line, of which the ends have fewer, by plain loops.
std::vector<std::int64_t> stepped(const std::vector<std::int64_t>& u, index_t width, std::int64_t factor,
                                  std::int64_t& sum) {
  const auto n = static_cast<index_t>(u.size());
  std::vector<std::int64_t> next(u.size());
  for (index_t k = 0; k < n; ++k) {
    std::int64_t x = 0;
    for (index_t w = -width; w <= width; ++w)
      if (k + w >= 0 && k + w < n) x += u[static_cast<std::size_t>(k + w)];
    next[static_cast<std::size_t>(k)] = (factor * x + k) % 1009;
    sum += next[static_cast<std::size_t>(k)] * k;
  }
  return next;
}

void step(context& ctx, const exec_place& where, const stf::split_data<slice<std::int64_t>>& u,
          const stf::split_data<slice<std::int64_t>>& v,
          const stf::logical_data<stf::scalar_view<const std::int64_t>>& factor,
          const stf::logical_data<stf::scalar_view<std::int64_t>>& sum, index_t n, index_t width, bool anew) {
  const auto body = STARLING_KERNEL(stf::part<1> p, index_t i, slice<const std::int64_t> from, slice<std::int64_t> to,
                                    stf::scalar_view<const std::int64_t> f, std::int64_t& s) {
    const index_t k = p.box.lower(0) + i;
    std::int64_t x = 0;
    for (index_t w = -width; w <= width; ++w)
      if (k + w >= 0 && k + w < n) x += from(p.before(0) + i + w);
    to(i) = (*f * x + k) % 1009;
    s += to(i) * k;
  };
  if (anew)
    ctx.parallel_for(where, u, u.with_halo(), v.write(), factor.read(), sum.reduce(stf::reducer::sum()))->*body;
  else
    ctx.parallel_for(where, u, u.with_halo(), v.write(), factor.read(), sum.reduce(stf::reducer::sum(), stf::no_init()))
            ->*body;
}

TEST_CASE("random stencils with sums, on places of all kinds") {
  for (std::uint64_t seed = 1; seed <= 16; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 3);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      const index_t n = 1 + r.below(60);
      const index_t width = 1 + r.below(3);
      // More parts than elements, too, and more than may wait to be added up.
      const index_t count = seed % 5 == 0 ? 40 : 1 + r.below(8);
      std::vector<std::int64_t> a(static_cast<std::size_t>(n));
      for (auto& x : a) x = r.below(1000);
      std::int64_t total = r.below(100);
      const std::int64_t factor = 1 + r.below(5);
      std::vector<std::int64_t> expected = a;
      std::int64_t expected_total = total;
      context ctx(*m, {.backend = backend});
      auto d = ctx.logical_data(a);
      auto e = ctx.logical_data(stf::shape_of<slice<std::int64_t>>(n));
      auto f = ctx.logical_data(stf::scalar_view<const std::int64_t>(&factor));
      auto sum = ctx.logical_data(stf::scalar_view<std::int64_t>(&total));
      const exec_place places[] = {exec_place::all_devices(), exec_place::device(n_pes - 1), exec_place::host(),
                                   exec_place::automatic(), exec_place::grid({n_pes - 1, 0})};
      {
        auto u = ctx.split(d, count, stf::halo{width});
        auto v = ctx.split(e, count, stf::halo{width});
        for (int t = 0; t < 5; ++t) {
          const bool anew = r.below(2) == 0;
          if (anew) expected_total = 0;
          expected = stepped(expected, width, factor, expected_total);
          step(ctx, places[r.below(5)], u, v, f, sum, n, width, anew);
          std::swap(u, v);
          if (r.below(3) == 0) ctx.fence();
        }
        // The value is where it began after an even number of steps alone.
        step(ctx, places[0], u, v, f, sum, n, width, true);
        expected_total = 0;
        expected = stepped(expected, width, factor, expected_total);
      }
      ctx.finalize();
      CHECK(a == expected);
      CHECK(total == expected_total);
    }
}

TEST_CASE("tiles of a matrix, whose bodies know where they are") {
  const auto m = test_machine(2);
  if (!m) return;
  constexpr index_t rows = 7;
  constexpr index_t columns = 9;
  std::vector<int> x(rows * columns, -1);
  std::vector<int> owner(rows * columns, -1);
  context ctx(*m);
  auto d = ctx.logical_data(slice<int, 2>(x.data(), rows, columns));
  auto o = ctx.logical_data(slice<int, 2>(owner.data(), rows, columns));
  std::vector<stf::box<2>> boxes;
  {
    const auto tiles = ctx.split(d, {2, 3});
    const auto owners = ctx.split(o, {2, 3});
    for (int i = 0; i < tiles.size(); ++i) boxes.push_back(tiles.box(i));
    ctx.parallel_for(exec_place::all_devices(), tiles, tiles.write(), owners.rw())
            ->*STARLING_KERNEL(stf::part<2> p, index_t i, index_t j, slice<int, 2> to, slice<int, 2> who) {
      to(i, j) = static_cast<int>(100 * (p.box.lower(0) + i) + p.box.lower(1) + j);
      who(i, j) = who(i, j) == -1 ? p.number : -2;
    };
  }
  ctx.finalize();
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(i * columns + j);
      CHECK(x[at] == 100 * i + j);
      int expected = -1;
      for (std::size_t k = 0; k < boxes.size(); ++k)
        if (boxes[k].contains({{i, j}})) expected = static_cast<int>(k);
      CHECK(owner[at] == expected);
    }
}

TEST_CASE("recorded, each launch does all parts again") {
  const auto m = test_machine(2);
  if (!m) return;
  std::vector<std::int64_t> a(50, 3);
  std::int64_t total = 5;
  context ctx(*m);
  auto d = ctx.logical_data(a);
  auto sum = ctx.logical_data(stf::scalar_view<std::int64_t>(&total));
  {
    const auto u = ctx.split(d, 4);
    ctx.repeat(6, [&] {
      ctx.parallel_for(exec_place::all_devices(), u, u.rw(), sum.reduce(stf::reducer::sum(), stf::no_init()))
              ->*STARLING_KERNEL(stf::part<1>, index_t i, slice<std::int64_t> x, std::int64_t& s) {
        x(i) += 1;
        s += x(i);
      };
    });
  }
  ctx.finalize();
  CHECK(a == std::vector<std::int64_t>(50, 9));
  CHECK(total == 5 + 50 * (4 + 5 + 6 + 7 + 8 + 9));
}

TEST_CASE("a part's task waits for no other part") {
  if (skipped_on_gpus("have functions of the host hold up one part alone")) return;
  const auto m = test_machine(2);
  if (!m || m->checking()) return;  // functions of the host take turns there
  std::vector<int> a(8, 1);
  context ctx(*m);
  auto d = ctx.logical_data(a);
  std::atomic<bool> go{false};
  std::atomic<bool> waited{false};
  {
    const auto u = ctx.split(d, 2);
    ctx.host_launch(u[0].rw())->*[&](slice<int> x) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!go && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      waited = go.load();
      x(0) = 10;
    };
    ctx.parallel_for(exec_place::all_devices(), u, u.rw())->*STARLING_KERNEL(stf::part<1>, index_t i, slice<int> x) {
      x(i) *= 2;
    };
    // The second part's value comes before the first one's.
    ctx.task(exec_place::host(), u[1].read())->*[&](stream& s, slice<const int>) { s.call([&] { go = true; }); };
    ctx.synchronize();
  }
  ctx.finalize();
  CHECK(waited);
  CHECK(a == std::vector<int>{20, 2, 2, 2, 2, 2, 2, 2});
}

TEST_CASE("where the parts run: neighbours on the same place") {
  using stf::detail::places_of_parts;
  const auto names = [](const exec_place& where, int n_pes, int parts) {
    std::string all;
    for (const exec_place& p : places_of_parts(where, n_pes, parts)) all += describe(p) + ";";
    return all;
  };
  CHECK(names(exec_place::all_devices(), 2, 4) == "device 0;device 0;device 1;device 1;");
  CHECK(names(exec_place::grid({1, 0, 1}), 2, 4) == "device 1;device 1;device 0;device 1;");
  CHECK(names(exec_place::all_devices(), 3, 1) == "device 0;");
  CHECK(names(exec_place::host(), 2, 2) == "host;host;");
  CHECK(names(exec_place::automatic(), 2, 2) == "automatic;automatic;");
}

}  // namespace
}  // namespace starling::test::parts_loop_tests
