// The recurrence of support/region_recurrence.hpp: all agents, chunks, tiles, mappings and numbers of PEs.
#include "support/region_recurrence.hpp"
#include "support/repetitions.hpp"
#include "support/test_machine.hpp"

namespace starling::test::recurrence_tests {
namespace {

TEST_CASE("a recurrence over scattered elements") {
  random r(31);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents_of(*m))
      for (const std::size_t chunk : {128u, 1024u, 65536u})
        for (const index_t n : {1, 17, 1001}) {
          const int kind = static_cast<int>(r.below(3));
          const region_mapping tiles = kind == 0   ? region_mapping::one_to_one(1 + static_cast<index_t>(r.below(200)))
                                       : kind == 1 ? region_mapping::stride(1 + static_cast<int>(r.below(5)), 9)
                                                   : region_mapping::one_to_one(1000);
          const bool credits = r.below(2) == 1;
          const int blocks = 1 + static_cast<int>(r.below(4));
          const int agent_blocks = 1 + static_cast<int>(r.below(3));
          CAPTURE(pes);
          CAPTURE(std::string(name(agent)));
          CAPTURE(chunk);
          CAPTURE(n);
          CAPTURE(kind);
          CAPTURE(credits);
          CAPTURE(blocks);
          const bool verify = r.below(2) == 1;
          const bool timed = r.below(2) == 1;
          CAPTURE(agent_blocks);
          CAPTURE(verify);
          CAPTURE(timed);
          run_recurrence(*m, n, blocks, repetitions(40),
                         {.agent = agent,
                          .chunk_bytes = chunk,
                          .tiles = tiles,
                          .agent_blocks = agent_blocks,
                          .credits = credits,
                          .verify = verify,
                          .timed = timed},
                         r.next());
        }
  }
}

TEST_CASE("a recurrence by two mappings, of the same blocks and of roles") {
  random r(35);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents_without(agents_of(*m), region_agent::copy_engine))
      for (const index_t n : {1, 17, 1001})
        for (const bool by_roles : {false, true}) {
          const index_t width = 1 + static_cast<index_t>(r.below(40));
          const int blocks = 1 + static_cast<int>(r.below(3));
          CAPTURE(pes);
          CAPTURE(std::string(name(agent)));
          CAPTURE(n);
          CAPTURE(by_roles);
          CAPTURE(width);
          CAPTURE(blocks);
          run_recurrence(*m, n, blocks, repetitions(30),
                         {.agent = agent, .chunk_bytes = 256, .tiles = two_mappings(width)}, r.next(), by_roles);
        }
  }
}

TEST_CASE("a recurrence whose tiles often rest") {
  random r(33);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents_without(agents_of(*m), region_agent::copy_engine))
      for (const int buffers : {2, 3, 4})
        for (const index_t n : {1, 17, 1001}) {
          const bool credits = r.below(2) == 1;
          const int blocks = 1 + static_cast<int>(r.below(4));
          const index_t width = 1 + static_cast<index_t>(r.below(40));
          CAPTURE(pes);
          CAPTURE(std::string(name(agent)));
          CAPTURE(buffers);
          CAPTURE(n);
          CAPTURE(credits);
          CAPTURE(blocks);
          CAPTURE(width);
          run_recurrence_with_rests(*m, n, blocks, repetitions(40),
                                    {.buffers = buffers,
                                     .agent = agent,
                                     .chunk_bytes = 256,
                                     .tiles = region_mapping::one_to_one(width),
                                     .credits = credits},
                                    r.next());
        }
  }
}

TEST_CASE("what is unchanged is not sent") {
  auto m = test_machine(2);
  if (!m) return;
  for (const region_agent agent : agents_without(agents_of(*m), region_agent::copy_engine)) {
    region<int> x(*m, 128, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(16)});
    const std::vector<int> start(128, 3);
    x.load(start);
    const auto h = x.handle();
    m->run(x.programs(
        2, with_own_warp{STARLING_KERNEL(block & b) {
          for (std::uint64_t e = 1; e <= 6; ++e) {
            const auto old = h.await(b, e - 1);
            h.each_tile(b, e, [&](const tile& t, const tracked<int>& next) {
      // All but one tile of PE 0 never change.
      if (e > 1 && (b.pe() != 0 || t.number != 1)) return t.unchanged();
      b.for_each(t.range, [&](index_t i) { next(i) = old(i) + (b.pe() == 0 && t.number == 1 ? 1 : 0); });
            });
  }
}
}  // namespace
));
auto expected = start;
for (std::size_t i = 16; i < 32; ++i) expected[i] += 6;
std::vector<int> got(128, 0);
for (int pe = 0; pe < 2; ++pe) {
  x.read(pe, 6, got);
  CHECK(got == expected);
}
const region_report moved = x.report();
CHECK(moved.bytes_per_epoch == std::vector<std::uint64_t>{0, 256, 256, 0});
CHECK(moved.bytes_left_out == std::vector<std::uint64_t>{0, 5 * 128, 5 * 256, 0});
}  // namespace starling::test::recurrence_tests
}

}  // namespace
}  // namespace starling::test::recurrence_tests
