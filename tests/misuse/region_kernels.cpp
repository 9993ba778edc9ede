// Regions that make no sense, and kernels that use one against its rules, in plain runs too.
#include <array>
#include <cmath>

#include "starling/region/region.hpp"
#include "support/failure.hpp"
#include "support/region_agents.hpp"
#include "support/usable.hpp"

namespace starling::test::region_tests {
namespace {

using parts = std::initializer_list<std::string>;

TEST_CASE("regions that cannot be made name the option and what it may be") {
  auto m = test_machine(2);
  if (!m) return;
  const auto refused = [&](index_t n, const region_options& o, parts says) {
    check_parts(failure_of<argument_error>([&] { region<float>(*m, n, o); }), says);
  };
  refused(0, {}, {"region: 0 elements", "at least 1"});
  refused(8, {.buffers = 0}, {"region_options::buffers = 0", "from 1 to 8"});
  refused(8, {.buffers = 1}, {"one buffer", "credits = true"});
  refused(8, {.agent_blocks = -1}, {"region_options::agent_blocks = -1"});
  refused(8, {.chunk_bytes = 100}, {"region_options::chunk_bytes = 100", "multiple of 128"});
  refused(8, {.chunk_bytes = 64}, {"region_options::chunk_bytes = 64"});
  refused(100, {.bounds = {32, 64}}, {"region_options::bounds: 2 bounds for 2 PEs"});
  refused(100, {.bounds = {33}}, {"33 is not at whole 128 bytes", "multiples of 32"});
  refused(100, {.bounds = {128}}, {"128 after 0 in a region of 100"});
  refused(100, {.subscribers = subscribers::only([](int, index_range) { return std::uint64_t{1}; })},
          {"subscribers that are not everyone", "credits = true"});
  refused(100, {.subscribers = subscribers::only([](int, index_range) { return std::uint64_t{4}; }), .credits = true},
          {"region_options::subscribers: mask 4", "machine with 2 PEs"});
  check_usable(*m);
}

TEST_CASE("options for measuring that make no sense are refused") {
  auto m = test_machine(2);
  if (!m) return;
  const auto pacing = [&](paced links, region_agent agent = region_agent::polling,
                          region_sending sending = region_sending::all) {
    return region_options{.agent = agent, .sending = sending, .links = links};
  };
  const auto unsupported = [&](const region_options& o, parts says) {
    check_parts(failure_of<unsupported_error>([&] { region<float>(*m, 8, o); }), says);
  };
  const auto wrong = [&](const region_options& o, parts says) {
    check_parts(failure_of<argument_error>([&] { region<float>(*m, 8, o); }), says);
  };
  unsupported(pacing({1e9, 0}, region_agent::inline_stores), {"region_options::links", "nothing paces inline"});
  if (!m->checking())
    unsupported(pacing({0, 1e-6}, region_agent::polling, region_sending::track_only), {"sending = track_only"});
  wrong(pacing({10, 0}), {"10 bytes a second", "at least 1e+06"});
  wrong(pacing({1e9, -1}), {"a latency of -1 s", "from 0 to 1"});
  wrong(pacing({0, 2}), {"a latency of 2 s"});
  wrong(pacing({std::nan(""), 1e-6}), {"nan bytes a second"});
  check_usable(*m);
}

TEST_CASE("tiles that do not write every element once are refused") {
  auto m = test_machine(1);
  if (!m) return;
  const auto refused = [&](const region_mapping::tiles& tiles, parts says) {
    const region_options o{.tiles = region_mapping::by([=](int, index_range) { return tiles; })};
    check_parts(failure_of<argument_error>([&] { region<float>(*m, 10, o); }), says);
  };
  refused({{{0, 4}}, {{5, 10}}}, {"no tile of PE 0 writes element 4"});
  refused({{{0, 4}}, {{4, 9}}}, {"no tile of PE 0 writes element 9"});
  refused({{{0, 6}}, {{4, 10}}}, {"tiles 0 and 1 of PE 0 both write element 4"});
  refused({{{0, 11}}}, {"tile 0 of PE 0 writes elements 0 to 11", "its part is 0 to 10"});
  refused({{{-1, 10}}}, {"writes elements -1 to 10"});
  refused({{{0, 10}, {10, 10}}}, {"a range has at least one element"});
  refused({}, {"no tile of PE 0 writes element 0"});
  const auto refused_together = [&](const region_mappings& mappings, parts says) {
    check_parts(failure_of<argument_error>([&] { region<float>(*m, 10, {.tiles = mappings}); }), says);
  };
  const auto mapping = [](const region_mapping::tiles& tiles) {
    return region_mapping::by([=](int, index_range) { return tiles; });
  };
  refused_together({mapping({{{0, 4}}, {{4, 8}}}), mapping({{{6, 10}}})},
                   {"tiles 1 (of mapping 0) and 0 (of mapping 1) of PE 0 both write element 6"});
  refused_together({mapping({{{0, 4}}}), mapping({{{4, 9}}})}, {"no tile of PE 0 writes element 9"});
  refused_together({mapping({{{0, 4}}}), mapping({{{4, 11}}})}, {"tile 0 (of mapping 1) of PE 0 writes elements 4"});
  refused_together({}, {"region_options::tiles: no mappings"});
  check_parts(failure_of<argument_error>([] { region_mapping::one_to_one(0); }), {"0 elements in a tile"});
  check_parts(failure_of<argument_error>([] { region_mapping::stride(0, 4); }), {"0 tiles"});
  check_parts(failure_of<argument_error>([] { region_mapping::by({}); }), {"an empty function"});
  check_usable(*m);
}

TEST_CASE("calls of the host name what is wrong") {
  auto m = test_machine(2);
  if (!m) return;
  region<float> x(*m, 100);
  const std::vector<float> few(99);
  std::vector<float> all(100);
  check_parts(failure_of<argument_error>([&] { x.load(few); }), {"region::load: 99 values for 100 elements"});
  x.load(all);
  check_parts(failure_of<argument_error>([&] { x.read(0, 1, all); }), {"region::read: epoch 1", "whose last is 0"});
  check_parts(failure_of<range_error>([&] { x.read(2, 0, all); }), {"region::read: PE 2", "machine with 2"});
  check_parts(failure_of<range_error>([&] { (void)x.part(-1); }), {"region::part: PE -1"});
  check_usable(*m);
}

enum class mistake { none, epoch_zero, skips, twice, leaves_early, range_without_credits, credit_without_credits };

std::string text_of(machine& m, mistake wrong, region_agent agent) {
  region<int> x(m, 256, {.agent = agent, .chunk_bytes = 128, .tiles = region_mapping::one_to_one(16)});
  x.load(std::vector<int>(256, 1));
  const auto h = x.handle();
  const auto programs = x.programs(
      2,
      with_own_warp{STARLING_KERNEL(block & b) {
        for (std::uint64_t e = 1; e <= 4; ++e) {
          // PE 1's block 0 has half of the tiles of each chunk.
          const bool mine = b.pe() == 1 && b.index() == 0 && e == 4;
          if (wrong == mistake::leaves_early && mine) return;
          const auto old = h.await(b, e - 1);
          if (wrong == mistake::range_without_credits) h.await(b, e - 1, {0, 8});
          if (wrong == mistake::credit_without_credits) h.give_credit(b, e - 1);
          const std::uint64_t written = wrong == mistake::epoch_zero ? 0 : wrong == mistake::skips && mine ? e + 2 : e;
          for (int times = wrong == mistake::twice && mine ? 2 : 1; times > 0; --times)
            h.each_tile(b, written, [&](tile t, tracked<int> next) {
    b.for_each(t.range, [&](index_t i) { next(i) = old(i) + 1; });
            });
}
}
},
      {.deadline = 20});
return failure_of<region_error>([&] { m.run(programs); });
}

TEST_CASE("kernels that use a region against its rules end with what they did") {
  auto m = test_machine(2);
  if (!m) return;
  for (const region_agent agent : agents_of(*m)) {
    CAPTURE(std::string(name(agent)));
    check_parts(text_of(*m, mistake::epoch_zero, agent),
                {"epoch 0 is what region::load brings", "region_kernels.cpp:"});
    check_parts(text_of(*m, mistake::skips, agent), {"before all of the epoch before", "await(b, epoch - 1)"});
    check_parts(text_of(*m, mistake::leaves_early, agent), {"the kernel is over and chunk", "an epoch takes 2"});
    check_parts(text_of(*m, mistake::range_without_credits, agent), {"region_options::credits"});
    check_parts(text_of(*m, mistake::credit_without_credits, agent), {"region_options::credits"});
    // The other block commits its half before, so that the second time is too much.
    check_parts(text_of(*m, mistake::twice, agent), {"more than 2 times"});
    check_usable(*m);
  }
}

TEST_CASE("what only some agents do is refused with their names") {
  auto m = test_machine(2);
  if (!m) return;
  const auto nothing = STARLING_KERNEL(block&){};
  for (const region_agent agent : {region_agent::own_warp, region_agent::launched, region_agent::copy_engine}) {
    const std::string called = name(agent);
    CAPTURE(called);
    check_parts(failure_of<argument_error>([&] { region<int>(*m, 64, {.agent = agent, .flushes = true}); }),
                {"region_options::flushes", called, "inline stores or polling"});
  }
  region<int> x(*m, 64, {.agent = region_agent::own_warp});
  x.load(std::vector<int>(64, 1));
  stream s = m->new_stream(0);
  check_parts(failure_of<argument_error>([&] { x.launch(s, 1, nothing); }),
              {"region::launch", "own_warp", "inline_stores, polling and copy_engine"});
  region<int> y(*m, 64, {.agent = region_agent::launched});
  check_parts(failure_of<argument_error>([&] { y.launch(s, 1, nothing); }),
              {"region::launch", "launched", "inline_stores, polling and copy_engine"});
  check_parts(failure_of<argument_error>([&] { (void)x.programs(1, nothing); }),
              {"own_warp", "hand over st::with_own_warp(kernel)", "another agent"});
  check_usable(*m);
}

TEST_CASE("a region is usable again after load") {
  auto m = test_machine(2);
  if (!m) return;
  region<int> x(*m, 64, {.chunk_bytes = 128, .tiles = region_mapping::one_to_one(16)});
  const std::vector<int> start(64, 5);
  const auto h = x.handle();
  const auto count = [&](std::uint64_t first, std::uint64_t stop_at) {
    m->run(x.programs(
        2, with_own_warp{STARLING_KERNEL(block & b) {
          for (std::uint64_t e = first; e <= 3; ++e) {
            const auto old = h.await(b, e - 1);
            if (e == stop_at) b.signal_set(sym<signal>(), 1, 1000);
            h.each_tile(b, e, [&](tile t, tracked<int> next) {
      b.for_each(t.range, [&](index_t i) { next(i) = old(i) + 1; });
            });
  }
}
}));
}
;
x.load(start);
CHECK_THROWS_AS(count(1, 2), range_error);
x.load(start);
CHECK(x.epoch() == 0);
count(1, 100);
CHECK(x.epoch() == 3);
std::vector<int> got(64);
for (int pe = 0; pe < 2; ++pe) {
  x.read(pe, 3, got);
  CHECK(got == std::vector<int>(64, 8));
}
}

}  // namespace
}  // namespace starling::test::region_tests
