// PROACT's microbenchmark: what it sends has arrived and is right; what cannot be is refused.
#include "overlap/overlap.hpp"

#include "support/failure.hpp"
#include "support/region_agents.hpp"
#include "support/test_machine.hpp"
#include "support/usable.hpp"

namespace starling::test {
namespace {

using overlap::destination;

TEST_CASE("everything has arrived, whatever the agent") {
  for (const int pes : {1, 3}) {
    auto m = test_machine(pes);
    if (!m) return;
    for (const region_agent agent : agents_of(*m, false))
      for (const std::size_t chunk : {512u, 1u << 20}) {
        CAPTURE(pes);
        CAPTURE(std::string(name(agent)));
        CAPTURE(chunk);
        overlap::microbenchmark b(*m, {.elements = 5000,
                                       .to = pes == 1 ? destination::host : destination::peers,
                                       .agent = agent,
                                       .chunk_bytes = chunk,
                                       .tile_bytes = 512,
                                       .timed = true});
        for (const int work : {0, 7}) {
          const overlap::run_result r = b.run(work);
          CHECK(r.seconds > 0);
          CHECK(r.blocks >= 1);
          CHECK(b.right());
        }
        CHECK(b.copy_seconds() > 0);
        const region_report report = b.report();
        CHECK(report.epoch == 2);
        // Copy engines do not know the time.
        CHECK((report.times.at(0).arrived > 0) == (agent != region_agent::copy_engine));
        // Tiles of 128 elements: every warp writes a whole line, and so does an agent.
        CHECK(report.line_stores_inline == report.line_stores_by_chunk);
        CHECK((report.line_stores_inline == 0) == (pes == 1));
      }
  }
}

TEST_CASE("without data the destinations are as they were") {
  auto m = test_machine(2);
  if (!m || m->checking()) return;
  for (const region_sending sending :
       {region_sending::elide_stores, region_sending::track_only, region_sending::untracked}) {
    overlap::microbenchmark b(*m, {.elements = 3000, .sending = sending});
    (void)b.run(3);
    CHECK(!b.right());
  }
}

TEST_CASE("stores in runs of any size arrive") {
  auto m = test_machine(2);
  if (!m) return;
  for (const destination to : {destination::host, destination::peers})
    for (const index_t run : {1, 4, 64, 1024}) CHECK(overlap::store_seconds(*m, to, 1024, run) > 0);
}

TEST_CASE("lines that stores come in are counted by tile and by chunk") {
  auto m = test_machine(2);
  if (!m) return;
  // 512 elements of a part: pieces of 8 elements, 32 bytes, a warp's whole store.
  region<float> strided(*m, 1024, {.chunk_bytes = 256, .tiles = region_mapping::stride(4, 8)});
  CHECK(strided.report().line_stores_inline == 2 * 512 / 8);
  CHECK(strided.report().line_stores_by_chunk == 2 * 512 / 32);
  // Tiles of 33: two warps, and lines that two tiles share.
  region<float> odd(*m, 1024, {.tiles = region_mapping::one_to_one(33)});
  CHECK(odd.report().line_stores_inline > odd.report().line_stores_by_chunk);
}

TEST_CASE("benchmarks that make no sense are refused") {
  auto m = test_machine(2);
  if (!m) return;
  const auto refused = [&](const overlap::run_options& o, const char* says) {
    check_parts(failure_of<argument_error>([&] { overlap::microbenchmark(*m, o); }), {says});
  };
  refused({.elements = 8, .to = destination::host}, "2 PEs that send to the host");
  refused({.elements = 0}, "0 elements");
  refused({.elements = 8, .tile_bytes = 0}, "tile_bytes = 0");
  check_parts(failure_of<argument_error>([&] { (void)overlap::store_seconds(*m, destination::host, 1000, 8); }),
              {"powers of two"});
  check_parts(failure_of<argument_error>([&] { (void)overlap::store_seconds(*m, destination::host, 8, 16); }),
              {"powers of two"});
  overlap::microbenchmark b(*m, {.elements = 8});
  check_parts(failure_of<argument_error>([&] { (void)b.run(-1); }), {"-1 steps"});
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test
