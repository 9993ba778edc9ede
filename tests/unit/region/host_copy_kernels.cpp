// The host's copy of a region: it follows while kernels run, and is whole when they have ended.
#include <thread>

#include "starling/region/region.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/region_recurrence.hpp"
#include "support/test_machine.hpp"

namespace starling::test::host_copy_tests {
namespace {

TEST_CASE("the host has every epoch that is complete") {
  random r(53);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents_of(*m))
      for (const bool credits : {false, true})
        for (const int buffers : {2, 3}) {
          const auto n = static_cast<index_t>(1 + r.below(900));
          const int agent_blocks = 1 + static_cast<int>(r.below(2));
          const bool some = credits && r.below(2) == 1;
          CAPTURE(pes);
          CAPTURE(std::string(name(agent)));
          CAPTURE(credits);
          CAPTURE(buffers);
          CAPTURE(n);
          CAPTURE(some);
          std::vector<std::uint64_t> start(static_cast<std::size_t>(n));
          for (auto& v : start) v = r.next();
          const std::uint64_t mask = (std::uint64_t{1} << pes) - 1;
          const auto masked = subscribers::only([mask](int, index_range) { return mask; });
          region<std::uint64_t> x(*m, n,
                                  {.buffers = buffers,
                                   .agent = agent,
                                   .chunk_bytes = 256,
                                   .tiles = region_mapping::one_to_one(1 + static_cast<index_t>(r.below(70))),
                                   .subscribers = some ? masked.and_host() : everyone.and_host(),
                                   .agent_blocks = agent_blocks,
                                   .credits = credits});
          x.load(start);
          CHECK(x.host_epoch() == 0);
          CHECK(std::equal(start.begin(), start.end(), x.on_host(0).begin()));
          const auto h = x.handle();
          constexpr std::uint64_t epochs = 7;
          for (const std::uint64_t first : {std::uint64_t{0}, epochs})
            m->run(x.programs(
                2, with_own_warp{STARLING_KERNEL(block & b) {
                  for (std::uint64_t e = first + 1; e <= first + epochs; ++e) {
                    const auto old = h.await(b, e - 1);
                    h.each_tile(b, e, [&](tile t, tracked<std::uint64_t> next) {
              h.for_each(b, t,
                         [&](index_t i) { next(i) = next_of(old(i), old(far(i, n, 1)), old(far(i, n, 2)), i, e); });
                    });
                    if (credits) h.give_credit(b, e - 1);
        }
  }
}));
CHECK(x.host_epoch() == 2 * epochs);
for (const std::uint64_t e : {2 * epochs, 2 * epochs - 1}) {
  const auto expected = by_loop(start, e);
  const auto got = x.on_host(e);
  CHECK(std::equal(expected.begin(), expected.end(), got.begin(), got.end()));
}
CHECK(x.report().host_bytes_per_epoch == static_cast<std::uint64_t>(n) * sizeof(std::uint64_t));
}
}
}

// A kernel that goes on when the host has seen an epoch: a word in memory of the host tells it.
TEST_CASE("a thread of the host reads its copy while the kernel runs") {
  auto m = test_machine(2);
  if (!m || m->checking()) return;
  constexpr index_t n = 2000;
  constexpr std::uint64_t epochs = 6;
  for (const region_agent agent : agents_of(*m)) {
    CAPTURE(std::string(name(agent)));
    region<int> x(*m, n, {.agent = agent, .chunk_bytes = 512, .subscribers = everyone.and_host()});
    x.load(std::vector<int>(n, 0));
    const auto h = x.handle();
    const local_memory word = m->allocate_on(host_place, sizeof(signal));
    auto* seen = reinterpret_cast<signal*>(word.data());
    seen->value = 0;
    std::thread running([&] {
      m->run(x.programs(1,
                        with_own_warp{STARLING_KERNEL(block & b) {
                          for (std::uint64_t e = 1; e <= epochs; ++e) {
                            const auto old = h.await(b, e - 1);
                            h.each_tile(b, e, [&](tile t, tracked<int> next) {
        b.for_each(t.range, [&](index_t i) { next(i) = old(i) + static_cast<int>(i); });
                            });
                            while (!b.test(sym<signal>(seen, 0), compare::ge, e)) continue;
                          }
  }
},
                        {.deadline = 20}));
});
for (std::uint64_t e = 1; e <= epochs; ++e) {
  x.wait_host(e, 20);
  CHECK(x.host_epoch() == e);
  const auto got = x.on_host(e);
  bool same = true;
  for (index_t i = 0; i < n; ++i) same = same && got[static_cast<std::size_t>(i)] == static_cast<int>(e * i);
  CHECK(same);
  gpu::system_atomic(seen->value).store(e, cuda::memory_order_release);
}
running.join();
}
}

TEST_CASE("what the host cannot have is refused") {
  auto m = test_machine(2);
  if (!m) return;
  region<int> with(*m, 100, {.subscribers = everyone.and_host()});
  region<int> without(*m, 100);
  with.load(std::vector<int>(100, 3));
  check_parts(failure_of<argument_error>([&] { (void)without.host_epoch(); }), {"subscribers::and_host"});
  check_parts(failure_of<argument_error>([&] { (void)without.on_host(0); }), {"subscribers::and_host"});
  check_parts(failure_of<argument_error>([&] { (void)with.on_host(1); }), {"region::on_host: epoch 1", "last is 0"});
  check_parts(failure_of<region_error>([&] { with.wait_host(1, 0.01); }),
              {"region::wait_host: epoch 1 is not there after 0.01 s", "the host has epoch 0"});
}

}  // namespace
}  // namespace starling::test::host_copy_tests
