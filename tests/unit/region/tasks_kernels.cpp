// Regions in tasks: the recurrence of support/region_recurrence.hpp as loops of contexts, mixed with logical data,
// recorded, repeated, and before and after programs.
#include <algorithm>

#include "starling/region/tasks.hpp"
#include "support/region_recurrence.hpp"
#include "support/repetitions.hpp"
#include "support/test_machine.hpp"

namespace starling::test::tasks_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::scalar_view;
using stf::slice;
using word = std::uint64_t;

constexpr backend_kind back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::automatic,
                                      backend_kind::persistent};
constexpr region_agent agents[] = {region_agent::inline_stores, region_agent::polling, region_agent::copy_engine};

// Persistent programs have no copies of engines.
bool takes(backend_kind backend, region_agent agent) {
  return backend != backend_kind::persistent || agent != region_agent::copy_engine;
}

std::vector<word> some(index_t n, random& r) {
  std::vector<word> v(static_cast<std::size_t>(n));
  for (auto& x : v) x = r.next();
  return v;
}

// One epoch of the recurrence.
void step(context& ctx, const region<word>& x) {
  const index_t n = x.size();
  ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update())
          ->*STARLING_KERNEL(index_t i, region_step<word> v) {
    v.next(i) = next_of(v.old(i), v.old(far(i, n, 1)), v.old(far(i, n, 2)), i, v.epoch);
  };
}

void check_on_all(const region<word>& x, int pes, word epoch, const std::vector<word>& expected) {
  CHECK(x.epoch() == epoch);
  for (int pe = 0; pe < pes; ++pe) {
    std::vector<word> got(expected.size(), 1);
    x.read(pe, epoch, got);
    CHECK(got == expected);
  }
}

TEST_CASE("a recurrence in tasks") {
  random r(51);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const backend_kind backend : back_ends)
      for (const region_agent agent : agents)
        for (const std::size_t chunk : {128u, 1024u})
          for (const index_t n : {1, 17, 1001}) {
            if (!takes(backend, agent)) continue;
            CAPTURE(pes);
            CAPTURE(static_cast<int>(backend));
            CAPTURE(std::string(name(agent)));
            CAPTURE(chunk);
            CAPTURE(n);
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
            constexpr word epochs = repetitions(25);
            context ctx(*m, {.backend = backend});
            for (word e = 0; e < 5; ++e) {
              step(ctx, x);
              if (r.below(3) == 0) ctx.fence();
            }
            ctx.repeat(epochs - 5, [&] { step(ctx, x); });
            ctx.finalize();
            const auto expected = by_loop(start, epochs);
            check_on_all(x, pes, epochs, expected);
            if (host) CHECK(std::equal(expected.begin(), expected.end(), x.on_host(epochs).begin()));
          }
  }
}

TEST_CASE("regions among logical data: loops, reductions, hierarchies, streams and the host") {
  random r(53);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 3}) {
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
        const auto start = some(n, r);
        std::vector<word> a = some(n, r), copy(size, 1), added(size, 1), seen(size, 1);
        word sum = 1, largest = 1;
        x.load(start);
        context ctx(*m, {.backend = backend});
        const auto A = ctx.logical_data(std::as_const(a));
        auto to = ctx.logical_data(copy);
        auto plus = ctx.logical_data(added);
        auto total = ctx.logical_data(scalar_view<word>(&sum));
        auto most = ctx.logical_data(scalar_view<word>(&largest));
        const int last = pes - 1;
        constexpr word epochs = 3;
        for (word e = 0; e < epochs; ++e) {
          ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), A.read(), x.update(),
                           total.reduce(stf::reducer::sum()), most.reduce(stf::reducer::maxval()))
                  ->*STARLING_KERNEL(index_t i, slice<const word> c, region_step<word> v, word & s, word & l) {
            const word next = v.old(far(i, n, 1)) + c(i);
            v.next(i) = next;
            s += next;
            l = next > l ? next : l;
          };
          // A later value than this would be seen if the next update did not wait.
          ctx.parallel_for(exec_place::device(last), to.shape(), x.read(), to.write())
                  ->*STARLING_KERNEL(index_t i, region_view<word> v, slice<word> t) {
            t(i) = v(n - 1 - i);
          };
        }
        const auto spec = stf::par(stf::con<32>());
        ctx.launch(spec, exec_place::all_devices(), x.read(), plus.write())
                ->*STARLING_KERNEL(stf::thread_hierarchy<std::remove_const_t<decltype(spec)>> th, region_view<word> v,
                                   slice<word> t) {
          for (auto [i] : th.apply_partition(stf::shape(t))) t(i) = v(i) + 1;
        };
        ctx.task(exec_place::device(last), x.read(), plus.rw())
                ->*[n](stream& s, region_source<word> from, slice<word> t) {
                      s.launch(
                          2, STARLING_KERNEL(block & b) {
                            const region_view<word> v = from;
                            b.for_each(b.my_share(n), [&](index_t i) { t(i) += v(i); });
                          });
                    };
        ctx.host_launch(x.read())->*[&seen](slice<const word> v) {
          for (index_t i = 0; i < v.extent(0); ++i) seen[static_cast<std::size_t>(i)] = v(i);
        };
        ctx.finalize();
        std::vector<word> value = start;
        for (word e = 0; e < epochs; ++e) {
          std::vector<word> next(size);
          for (index_t i = 0; i < n; ++i)
            next[static_cast<std::size_t>(i)] =
                value[static_cast<std::size_t>(far(i, n, 1))] + a[static_cast<std::size_t>(i)];
          value = next;
        }
        check_on_all(x, pes, epochs, value);
        CHECK(seen == value);
        word expected_sum = 0, expected_most = 0;
        for (std::size_t i = 0; i < size; ++i) {
          CHECK(copy[i] == value[size - 1 - i]);
          CHECK(added[i] == 2 * value[i] + 1);
          expected_sum += value[i];
          expected_most = std::max(expected_most, value[i]);
        }
        CHECK(sum == expected_sum);
        CHECK(largest == expected_most);
      }
  }
}

TEST_CASE("recorded updates go on with the epochs, beside others and programs") {
  random r(54);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const backend_kind backend : {backend_kind::stream, backend_kind::graph})
      for (const region_agent agent : agents) {
        CAPTURE(pes);
        CAPTURE(static_cast<int>(backend));
        CAPTURE(std::string(name(agent)));
        const index_t n = 301;
        region<word> x(*m, n, {.agent = agent, .chunk_bytes = 256, .tiles = region_mapping::one_to_one(20)});
        const auto start = some(n, r);
        x.load(start);
        word epoch = 0;
        std::vector<word> here(static_cast<std::size_t>(n));
        context ctx(*m, {.backend = backend});
        auto to = ctx.logical_data(here);
        // Copies are of the buffer that a launch begins with.
        const bool from_any = agent != region_agent::copy_engine || pes == 1;
        const stf::recorded_tasks two = ctx.record([&] {
          step(ctx, x);
          step(ctx, x);
        });
        for (int k = 0; k < 12; ++k) switch (r.below(4)) {
            case 0:
              step(ctx, x);
              epoch += 1;
              break;
            case 1: {
              if (!from_any && epoch % 2 != 0) break;
              const word times = r.below(4);
              two.launch(times);
              epoch += 2 * times;
              break;
            }
            case 2:
              ctx.parallel_for(exec_place::device(pes - 1), to.shape(), x.read(), to.write())
                      ->*STARLING_KERNEL(index_t i, region_view<word> v, slice<word> t) {
                t(i) = v(i);
              };
              {
                const auto expected = by_loop(start, epoch);
                const auto seen = ctx.wait(to);
                for (index_t i = 0; i < n; ++i) CHECK(seen(i) == expected[static_cast<std::size_t>(i)]);
              }
              break;
            default: {
              ctx.synchronize();
              const auto h = x.handle();
              const word first = epoch + 1;
              m->run(x.programs(
                  2, STARLING_KERNEL(block & b) {
                    for (word e = first; e < first + 2; ++e) {
                      const auto old = h.await(b, e - 1);
                      h.each_tile(b, e, [&](tile t, tracked<word> next) {
                        b.for_each(t.range, [&](index_t i) {
                          next(i) = next_of(old(i), old(far(i, n, 1)), old(far(i, n, 2)), i, e);
                        });
                      });
                    }
                    h.await(b, first + 1);
                  }));
              epoch += 2;
            }
          }
        ctx.finalize();
        check_on_all(x, pes, epoch, by_loop(start, epoch));
      }
  }
}

TEST_CASE("a loop over a region that ends before its most rounds") {
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const backend_kind backend : {backend_kind::stream, backend_kind::graph})
      for (const region_agent agent : agents)
        for (const int buffers : {2, 3}) {
          CAPTURE(pes);
          CAPTURE(static_cast<int>(backend));
          CAPTURE(std::string(name(agent)));
          CAPTURE(buffers);
          constexpr index_t n = 203;
          region<word> x(*m, n,
                         {.buffers = buffers,
                          .agent = agent,
                          .chunk_bytes = 128,
                          .tiles = region_mapping::one_to_one(10),
                          .agent_blocks = 2});
          x.load(std::vector<word>(n, 0));
          context ctx(*m, {.backend = backend});
          auto again = ctx.logical_data(stf::shape_of<scalar_view<int>>());
          auto sum = ctx.logical_data(stf::shape_of<scalar_view<word>>());
          word epochs = 0;
          // Three times, with an odd and an even number of rounds.
          for (const word rounds : {5u, 4u, 1u}) {
            epochs += rounds;
            const word end = epochs;
            ctx.repeat_while(
                again,
                [&] {
                  ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update(),
                                   sum.reduce(stf::reducer::sum()))
                          ->*STARLING_KERNEL(index_t i, region_step<word> v, word & s) {
                    const word next = v.old(far(i, n, 1)) + 1;
                    v.next(i) = next;
                    s += next;
                  };
                  ctx.parallel_for(exec_place::device(0), stf::box(1), sum.read(), again.write())
                          ->*STARLING_KERNEL(index_t, scalar_view<const word> s, scalar_view<int> f) {
                    *f = *s < end * n ? 1 : 0;
                  };
                },
                100);
            ctx.repeat(2, [&] { step(ctx, x); });
            ctx.synchronize();
            epochs += 2;
            CHECK(x.epoch() == epochs);
            x.load(std::vector<word>(n, 0));
            epochs = 0;
          }
          ctx.finalize();
        }
  }
}

TEST_CASE("two regions and two contexts") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr index_t n = 100;
  region<word> x(*m, n, {.chunk_bytes = 128}), y(*m, n, {.agent = region_agent::inline_stores});
  x.load(std::vector<word>(n, 1));
  y.load(std::vector<word>(n, 2));
  for (int k = 0; k < 2; ++k) {
    context ctx(*m);
    for (int e = 0; e < 2; ++e) {
      ctx.parallel_for(x.partition(), exec_place::all_devices(), x.shape(), x.update(), y.read())
              ->*STARLING_KERNEL(index_t i, region_step<word> v, region_view<word> o) {
        v.next(i) = v.old(n - 1 - i) + o(n - 1 - i);
      };
      ctx.parallel_for(y.partition(), exec_place::all_devices(), y.shape(), x.read(), y.update())
              ->*STARLING_KERNEL(index_t i, region_view<word> o, region_step<word> v) {
        v.next(i) = v.old(n - 1 - i) * o(n - 1 - i);
      };
    }
    ctx.finalize();
  }
  word a = 1, b = 2;
  for (int e = 0; e < 4; ++e) {
    a += b;
    b *= a;
  }
  check_on_all(x, 2, 4, std::vector<word>(n, a));
  check_on_all(y, 2, 4, std::vector<word>(n, b));
}

}  // namespace
}  // namespace starling::test::tasks_tests
