// The recurrence of support/region_recurrence.hpp: all agents, chunks, tiles, mappings and numbers of PEs.
#include "support/region_recurrence.hpp"
#include "support/test_machine.hpp"

namespace starling::test {
namespace {

TEST_CASE("a recurrence over scattered elements") {
  random r(31);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 3, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : region_agents)
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
          run_recurrence(*m, n, blocks, 40,
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

}  // namespace
}  // namespace starling::test
