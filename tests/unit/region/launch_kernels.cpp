// Regions that launches of thread hierarchies update: the recurrence of support/region_recurrence.hpp, tiles written by
// all threads of a block, with scratch memory and barriers between them; beside loops, recorded and repeated.
#include "starling/region/tasks.hpp"
#include "support/region_recurrence.hpp"
#include "support/repetitions.hpp"
#include "support/test_machine.hpp"

namespace starling::test::region_launch_tests {
namespace {

using stf::backend_kind;
using stf::con;
using stf::context;
using stf::exec_place;
using stf::par;
using stf::scalar_view;
using stf::slice;
using word = std::uint64_t;

constexpr backend_kind back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::persistent};
constexpr region_agent agents[] = {region_agent::inline_stores, region_agent::polling, region_agent::copy_engine};

std::vector<word> some(index_t n, random& r) {
  std::vector<word> v(static_cast<std::size_t>(n));
  for (auto& x : v) x = r.next();
  return v;
}

void check_on_all(const region<word>& x, int pes, word epoch, const std::vector<word>& expected) {
  CHECK(x.epoch() == epoch);
  for (int pe = 0; pe < pes; ++pe) {
    std::vector<word> got(expected.size(), 1);
    x.read(pe, epoch, got);
    CHECK(got == expected);
  }
}

// One epoch of the recurrence by the threads of a hierarchy; a template, so that nvcc sees one signature.
template <class Spec>
struct next_epoch {
  STARLING_HD void operator()(stf::thread_hierarchy<Spec> th, region_tiles<word> v) const {
    const index_t n = v.old.size();
    v.each_tile([&](const tile& t, const tracked<word>& next) {
      (void)th;
      v.for_each(t,
                 [&](index_t i) { next(i) = next_of(v.old(i), v.old(far(i, n, 1)), v.old(far(i, n, 2)), i, v.epoch); });
    });
  }
};
template <class Spec>
void step(context& ctx, const Spec& spec, const region<word>& x) {
  ctx.launch(spec, exec_place::all_devices(), x.update())->*next_epoch<Spec>();
}

// The same with a range's elements shared out by the hierarchy, and values that go through the block's scratch memory:
// each thread stores what another has worked out.
constexpr int threads = 64;
constexpr auto spec_with_storage = par(con<threads>(stf::mem(threads * sizeof(word))));
void step_through_scratch(context& ctx, const region<word>& x) {
  ctx.launch(spec_with_storage, exec_place::all_devices(), x.update())
          ->*STARLING_KERNEL(stf::thread_hierarchy<decltype(spec_with_storage)> th, region_tiles<word> v) {
    const index_t n = v.old.size();
    const auto inner = th.inner();
    const slice<word> made = th.template storage<word>(1);
    v.each_tile([&](const tile& t, const tracked<word>& next) {
      for (int k = 0; k < t.count; ++k)
        for (index_t first = t.ranges[k].begin; first < t.ranges[k].end; first += threads) {
          const index_t left = t.ranges[k].end - first;
          const index_t count = left < threads ? left : threads;
          for (auto [j] : inner.apply_partition(stf::box(count)))
            made(j) =
                next_of(v.old(first + j), v.old(far(first + j, n, 1)), v.old(far(first + j, n, 2)), first + j, v.epoch);
          inner.sync();
          for (auto [j] : inner.apply_partition(stf::box(count))) next(first + count - 1 - j) = made(count - 1 - j);
          inner.sync();
        }
    });
  };
}

TEST_CASE("a recurrence in launches") {
  random r(61);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const backend_kind backend : back_ends)
      for (const region_agent agent : agents)
        for (const index_t n : {1, 17, 501}) {
          // Persistent programs have no copies of engines.
          if (agent == region_agent::copy_engine && backend == backend_kind::persistent) continue;
          CAPTURE(pes);
          CAPTURE(static_cast<int>(backend));
          CAPTURE(std::string(name(agent)));
          CAPTURE(n);
          const std::size_t chunk = r.below(2) == 0 ? 128 : 1024;
          CAPTURE(chunk);
          const region_mapping tiles = r.below(2) == 0
                                           ? region_mapping::one_to_one(1 + static_cast<index_t>(r.below(200)))
                                           : region_mapping::stride(1 + static_cast<int>(r.below(5)), 9);
          const bool host = r.below(2) == 1;
          region<word> x(*m, n,
                         {.buffers = 2 + static_cast<int>(r.below(2)),
                          .agent = agent,
                          .chunk_bytes = chunk,
                          .tiles = tiles,
                          .subscribers = host ? everyone.and_host() : everyone,
                          .agent_blocks = 1 + static_cast<int>(r.below(3)),
                          .credits = r.below(2) == 1});
          const auto start = some(n, r);
          x.load(start);
          constexpr word rounds = repetitions(4), epochs = 6 + rounds;
          context ctx(*m, {.backend = backend});
          step(ctx, par(con()), x);
          step(ctx, par(con<2>(stf::hw_scope::thread, con<32>())), x);
          step(ctx, par(pes, par(2 + static_cast<index_t>(r.below(9)), con<32>())), x);  // groups in turn
          step(ctx, par(con(2, stf::hw_scope::thread, par<32>())), x);
          step(ctx, par(stf::hw_scope::device, par(par<32>())), x);
          step_through_scratch(ctx, x);
          ctx.repeat(rounds, [&] { step_through_scratch(ctx, x); });
          ctx.finalize();
          const auto expected = by_loop(start, epochs);
          check_on_all(x, pes, epochs, expected);
          if (host) CHECK(std::equal(expected.begin(), expected.end(), x.on_host(epochs).begin()));
        }
  }
}

TEST_CASE("launches and loops update a region in turn, recorded, with data and reductions") {
  random r(62);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const backend_kind backend : {backend_kind::stream, backend_kind::graph})
      for (const region_agent agent : agents) {
        CAPTURE(pes);
        CAPTURE(static_cast<int>(backend));
        CAPTURE(std::string(name(agent)));
        const index_t n = 1 + static_cast<index_t>(r.below(700));
        const auto size = static_cast<std::size_t>(n);
        region<word> x(*m, n, {.agent = agent, .chunk_bytes = 256, .tiles = region_mapping::one_to_one(37)});
        region<word> y(*m, n, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::stride(3, 5)});
        const auto start = some(n, r);
        std::vector<word> a = some(n, r);
        word added = 5;
        x.load(start);
        y.load(a);
        context ctx(*m, {.backend = backend});
        const auto A = ctx.logical_data(std::as_const(a));
        auto sum = ctx.logical_data(scalar_view<word>(&added));
        const auto spec = par(con<64>());
        const stf::recorded_tasks two = ctx.record([&] {
          ctx.launch(spec, exec_place::all_devices(), A.read(), y.read(), x.update(),
                     sum.reduce(stf::reducer::sum(), stf::no_init()))
                  ->*STARLING_KERNEL(stf::thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<const word> c,
                                     region_view<word> other, region_tiles<word> v, scalar_view<word> s) {
            if (th.rank() == 0) *s += 3;
            v.each_tile([&](const tile& t, const tracked<word>& next) {
              for (auto [i] : th.inner().apply_partition(stf::box({t.range.begin, t.range.end})))
                next(i) = v.old(far(i, n, 1)) + c(i) + other(i) + v.epoch;
            });
          };
          ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update())
                  ->*STARLING_KERNEL(index_t i, region_step<word> v) {
            v.next(i) = v.old(far(i, n, 2)) + v.epoch;
          };
        });
        two.launch(2);
        two.launch();
        ctx.finalize();
        std::vector<word> value = start;
        for (word e = 1; e <= 6; ++e) {
          std::vector<word> next(size);
          for (index_t i = 0; i < n; ++i) {
            const auto k = static_cast<std::size_t>(i);
            next[k] = value[static_cast<std::size_t>(far(i, n, e % 2 == 1 ? 1 : 2))] + e;
            if (e % 2 == 1) next[k] += 2 * a[k];
          }
          value = next;
        }
        check_on_all(x, pes, 6, value);
        CHECK(added == 5 + 3 * 3);
      }
  }
}

TEST_CASE("tiles that a launch leaves unchanged") {
  for (const int pes : {1, 3}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents) {
      CAPTURE(pes);
      CAPTURE(std::string(name(agent)));
      constexpr index_t n = 500;
      region<word> x(*m, n, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(16)});
      x.load(std::vector<word>(n, 1));
      context ctx(*m);
      const auto spec = par(con<32>());
      for (int e = 0; e < 4; ++e)
        ctx.launch(spec, exec_place::all_devices(), x.update())
                ->*STARLING_KERNEL(stf::thread_hierarchy<std::remove_const_t<decltype(spec)>>, region_tiles<word> v) {
          v.each_tile([&](const tile& t, const tracked<word>& next) {
            if (v.epoch >= 2 && t.number % 2 == 1) return t.unchanged();
            v.for_each(t, [&](index_t i) { next(i) = v.old(i) + (t.number % 2 == 0 ? 1 : 0); });
          });
        };
      ctx.finalize();
      for (int pe = 0; pe < pes; ++pe) {
        std::vector<word> got(n, 0);
        x.read(pe, 4, got);
        for (int owner = 0; owner < pes; ++owner)
          for (index_t i = x.part(owner).begin; i < x.part(owner).end; ++i)
            CHECK(got[static_cast<std::size_t>(i)] == ((i - x.part(owner).begin) / 16 % 2 == 0 ? 5 : 1));
      }
      if (pes > 1 && agent != region_agent::copy_engine) CHECK(x.report().bytes_left_out[1] > 0);
    }
  }
}

TEST_CASE("a loop of launches that ends before its most rounds") {
  for (const int pes : {1, 2}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const backend_kind backend : {backend_kind::stream, backend_kind::graph})
      for (const region_agent agent : agents) {
        CAPTURE(pes);
        CAPTURE(static_cast<int>(backend));
        CAPTURE(std::string(name(agent)));
        constexpr index_t n = 203;
        region<word> x(*m, n, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(10)});
        random r(63);
        const auto start = some(n, r);
        x.load(start);
        context ctx(*m, {.backend = backend});
        auto again = ctx.logical_data(stf::shape_of<scalar_view<int>>());
        int rounds = 0;
        auto count = ctx.logical_data(scalar_view<int>(&rounds));
        ctx.repeat_while(
            again,
            [&] {
              step(ctx, par(con<32>()), x);
              ctx.parallel_for(exec_place::device(0), stf::box(1), count.rw(), again.write())
                      ->*STARLING_KERNEL(index_t, scalar_view<int> c, scalar_view<int> f) {
                *c += 1;
                *f = *c < 5 ? 1 : 0;
              };
            },
            100);
        ctx.finalize();
        CHECK(rounds == 5);
        check_on_all(x, pes, 5, by_loop(start, 5));
      }
  }
}

}  // namespace
}  // namespace starling::test::region_launch_tests
