// Flushes: what a block has committed is seen before its chunk is ready.
#include "support/random.hpp"
#include "support/region_flushes.hpp"
#include "support/test_machine.hpp"

namespace starling::test::flush_tests {
namespace {

TEST_CASE("tiles are seen after a flush, whatever the agent") {
  random r(37);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (const int pes : {1, 2, 4}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : {region_agent::inline_stores, region_agent::polling})
      for (const telling how : {telling::by_handle, telling::by_flush_and_block, telling::by_put_signal})
        for (const bool rests : {false, true}) {
          const int blocks = 1 + static_cast<int>(r.below(4));
          const index_t n = 32 * pes * (1 + static_cast<index_t>(r.below(9))) - static_cast<index_t>(r.below(8));
          CAPTURE(pes);
          CAPTURE(std::string(name(agent)));
          CAPTURE(static_cast<int>(how));
          CAPTURE(rests);
          CAPTURE(blocks);
          CAPTURE(n);
          run_flushes(*m, n, blocks, 30,
                      {.agent = agent,
                       .chunk_bytes = std::size_t{128} * (1 + r.below(3)),
                       .tiles = region_mapping::one_to_one(8),
                       .agent_blocks = 1 + static_cast<int>(r.below(2)),
                       .flushes = true},
                      how, rests);
        }
  }
}

}  // namespace
}  // namespace starling::test::flush_tests
