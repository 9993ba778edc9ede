// Regions of which less travels than values need, and over links that are simulated.
#include <chrono>

#include "starling/region/region.hpp"
#include "support/random.hpp"
#include "support/region_agents.hpp"
#include "support/test_machine.hpp"

namespace starling::test::measuring_tests {
namespace {

// Each element from its own last value, so that a PE's own part is right whatever travels.
void count_up(machine& m, region<int>& x, std::uint64_t first, std::uint64_t last, bool credits = false) {
  const auto h = x.handle();
  m.run(x.programs(
      2, with_own_warp{STARLING_KERNEL(block & b) {
        for (std::uint64_t e = first + 1; e <= last; ++e) {
          const auto old = h.await(b, e - 1);
          h.each_tile(b, e, [&](tile t, tracked<int> next) {
    h.for_each(b, t, [&](index_t i) { next(i) = old(i) + 1 + static_cast<int>(i % 3); });
          });
          if (credits) h.give_credit(b, e - 1);
          b.sync_pe();
}
}  // namespace
}  // namespace starling::test::measuring_tests
));
}

TEST_CASE("what does not travel leaves other PEs with what load brought") {
  random r(47);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m || m->checking()) return;
    for (const region_sending sending :
         {region_sending::all, region_sending::elide_stores, region_sending::track_only, region_sending::untracked})
      for (const region_agent agent : agents_of(*m))
        for (const bool credits : {false, true}) {
          CAPTURE(pes);
          CAPTURE(std::string(name(sending)));
          CAPTURE(std::string(name(agent)));
          CAPTURE(credits);
          const auto n = static_cast<index_t>(100 + r.below(400));
          std::vector<int> start(static_cast<std::size_t>(n));
          for (int& v : start) v = static_cast<int>(r.below(1000));
          region<int> x(*m, n,
                        {.agent = agent,
                         .chunk_bytes = 256,
                         .tiles = region_mapping::one_to_one(1 + static_cast<index_t>(r.below(90))),
                         .agent_blocks = 1 + static_cast<int>(r.below(2)),
                         .credits = credits,
                         .sending = sending});
          x.load(start);
          count_up(*m, x, 0, 5, credits);
          count_up(*m, x, 5, 8, credits);
          CHECK(x.epoch() == 8);
          std::vector<int> expected = start;
          for (index_t i = 0; i < n; ++i) expected[static_cast<std::size_t>(i)] += 8 * (1 + static_cast<int>(i % 3));
          std::vector<int> got(start.size(), -1);
          x.collect(8, got);
          CHECK(got == expected);
          for (int pe = 0; pe < pes; ++pe) {
            const index_range own = x.part(pe);
            x.read(pe, 8, got);
            for (index_t i = 0; i < n; ++i) {
              const auto k = static_cast<std::size_t>(i);
              const bool there = sending == region_sending::all || (i >= own.begin && i < own.end);
              if (got[k] != (there ? expected[k] : start[k])) FAIL_CHECK("element " << i << " on PE " << pe);
            }
          }
          const region_report report = x.report();
          CHECK(report.sending == sending);
          std::uint64_t bytes = 0;
          for (const std::uint64_t b : report.bytes_per_epoch) bytes += b;
          CHECK((bytes > 0) == (pes > 1 && sending == region_sending::all));
        }
  }
}

TEST_CASE("paced links bring everything, and not before their time") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr index_t n = 3000;
  constexpr std::uint64_t epochs = 6;
  const std::vector<int> start(n, 5);
  std::vector<int> expected = start;
  for (index_t i = 0; i < n; ++i) expected[static_cast<std::size_t>(i)] += 6 * (1 + static_cast<int>(i % 3));
  const paced slow{.bytes_per_second = 2e6};  // 4,000 bytes of a part an epoch
  const paced far{.latency_seconds = 2e-3};
  for (const paced links : {slow, far})
    for (const int agent_blocks : {1, 2})
      for (const bool credits : {false, true}) {
        CAPTURE(links.latency_seconds);
        CAPTURE(agent_blocks);
        CAPTURE(credits);
        region<int> x(*m, n,
                      {.chunk_bytes = 512,
                       .tiles = region_mapping::one_to_one(64),
                       .agent_blocks = agent_blocks,
                       .credits = credits,
                       .links = links});
        x.load(start);
        const auto begin = std::chrono::steady_clock::now();
        count_up(*m, x, 0, epochs, credits);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        // A chunk is awaited in each epoch but the last, which has arrived when the agent ends.
        if (!m->checking()) CHECK(seconds >= (links.latency_seconds > 0 ? 12e-3 : 6 * 1.9e-3));
        CHECK(x.report().links.latency_seconds == links.latency_seconds);
        std::vector<int> got(start.size(), -1);
        for (int pe = 0; pe < 3; ++pe) {
          x.read(pe, epochs, got);
          CHECK(got == expected);
        }
      }
}

// PE 1 stores to an element of PE 0 between its arrival and its await.
std::string altered(machine& m, region_agent agent, paced links, bool verify, std::uint64_t wrong_epoch) {
  constexpr index_t n = 512;
  region<int> x(
      m, n,
      {.agent = agent, .chunk_bytes = 256, .tiles = region_mapping::one_to_one(16), .verify = verify, .links = links});
  x.load(std::vector<int>(n, 1));
  const auto h = x.handle();
  const auto programs = x.programs(
      1, with_own_warp{STARLING_KERNEL(block & b) {
        for (std::uint64_t e = 1; e <= 4; ++e) {
          if (e - 1 == wrong_epoch && b.pe() == 1) {
            b.wait(h.state().arrived + 1, e - 1, 0);
            if (b.member() == 0) (h.values() + h.state().buffer_of(e - 1) * h.pitch()).on(1)[100] += 1;
            b.sync();
}
const auto old = h.await(b, e - 1);
h.each_tile(b, e, [&](tile t, tracked<int> next) { b.for_each(t.range, [&](index_t i) { next(i) = old(i) + 1; }); });
b.all_reduce(0, plus{});
}
}
});
try {
  m.run(programs);
} catch (const region_error& e) {
  return e.what();
}
return "";
}

TEST_CASE("a byte that is not as it was sent is found where chunks are verified") {
  auto m = test_machine(2);
  if (!m || m->checking()) return;
  std::vector<std::pair<region_agent, paced>> senders{{region_agent::polling, {.latency_seconds = 1e-4}}};
  for (const region_agent a : agents_of(*m)) senders.emplace_back(a, paced{});
  for (const auto& [agent, links] : senders) {
    CAPTURE(std::string(name(agent)));
    CHECK(altered(*m, agent, links, true, 9).empty());
    CHECK(altered(*m, agent, links, false, 2).empty());
    const std::string text = altered(*m, agent, links, true, 2);
    for (const char* part : {"PE 1 block 0", "chunk 1 of epoch 2 is not as its PE sent it", "its arrival word is at "})
      CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  }
}

TEST_CASE("times of arrivals lie in the kernel, or are counted behind it") {
  for (const int pes : {1, 3}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents_of(*m)) {
      CAPTURE(pes);
      CAPTURE(std::string(name(agent)));
      region<int> x(*m, 3000,
                    {.agent = agent, .chunk_bytes = 512, .tiles = region_mapping::one_to_one(64), .timed = true});
      x.load(std::vector<int>(3000, 1));
      count_up(*m, x, 0, 4);
      const std::vector<region_times> times = x.report().times;
      REQUIRE(times.size() == static_cast<std::size_t>(pes));
      for (int pe = 0; pe < pes; ++pe) {
        const region_times& t = times[static_cast<std::size_t>(pe)];
        CHECK(t.kernel > 0);
        CHECK(t.waited >= 0);
        // When the copies of streams have arrived nobody notes.
        const bool noted = pes > 1 && agent != region_agent::copy_engine;
        const int chunks = !noted ? 0 : static_cast<int>(ceil_div(x.part(pe).size(), index_t{128}));
        CHECK(t.arrived == chunks);
        CHECK(t.first_arrival <= t.last_arrival);
        CHECK((t.last_arrival > t.kernel) == (t.after_end > 0));
        CHECK(t.after_end <= t.arrived);
      }
      region<int> plain(*m, 100);
      CHECK(plain.report().times.empty());
    }
  }
}

}  // namespace
}  // namespace starling::test::measuring_tests
