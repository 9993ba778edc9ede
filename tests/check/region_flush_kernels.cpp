// Flushes under many schedules: what they show is right, and what is read without them is found.
#include "support/checked.hpp"
#include "support/region_flushes.hpp"

namespace starling::test::region_flush_kernels_tests {
namespace {

constexpr region_agent agents[] = {region_agent::inline_stores, region_agent::polling};

region_options with_flushes(region_agent agent, int agent_blocks = 1) {
  return {.agent = agent,
          .chunk_bytes = 128,
          .tiles = region_mapping::one_to_one(8),
          .agent_blocks = agent_blocks,
          .flushes = true};
}

TEST_CASE("flushed tiles are there, every agent") {
  for (const int pes : {1, 2, 3})
    for (const region_agent agent : agents)
      for (const telling how : {telling::by_handle, telling::by_flush_and_block, telling::by_put_signal})
        for (const int blocks : {1, 2, 3}) {
          CAPTURE(pes);
          CAPTURE(std::string(name(agent)));
          CAPTURE(static_cast<int>(how));
          CAPTURE(blocks);
          machine m = checked_machine(pes, 20);
          run_flushes(m, 32 * pes + 20, blocks, 4, with_flushes(agent, blocks), how, blocks == 2);
        }
}

TEST_CASE("flushed tiles are there, with credits and other numbers of buffers") {
  for (const region_agent agent : agents)
    for (const bool credits : {false, true})
      for (const int buffers : {2, 3}) {
        CAPTURE(std::string(name(agent)));
        CAPTURE(credits);
        CAPTURE(buffers);
        machine m = checked_machine(2, 20);
        region_options o = with_flushes(agent, 2);
        o.credits = credits;
        o.buffers = buffers;
        run_flushes(m, 64, 2, 6, o, telling::by_handle, true);
      }
}

TEST_CASE("what no flush covers is found") {
  for (const telling how : {telling::by_block_alone, telling::of_other_tiles}) {
    CAPTURE(static_cast<int>(how));
    machine m = checked_machine(2);
    const auto e = finding_of([&] { run_flushes(m, 64, 2, 3, with_flushes(region_agent::polling), how); });
    if (e) check_parts(e->what(), {"of PE ", "region_flushes.hpp:"});
  }
}

TEST_CASE("a flush that the region was not made for is refused") {
  for (const region_agent agent : agents) {
    machine m = checked_machine(2);
    region_options o = with_flushes(agent);
    o.flushes = false;
    check_parts(failure_of<region_error>([&] { run_flushes(m, 64, 2, 3, o, telling::by_handle); }),
                {"need region_options::flushes", "region_flushes.hpp:"});
  }
}

}  // namespace
}  // namespace starling::test::region_flush_kernels_tests
