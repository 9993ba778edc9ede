// What is kept of data: as it was described, whatever its form, and in few bytes for what there may be many of.
#include "stf/memory/data_layout.hpp"

#include <doctest/doctest.h>

#include "stf/memory/data_state.hpp"
#include "support/random.hpp"

namespace starling::test::data_layout_tests {
namespace {

using namespace stf;

TEST_CASE("a layout gives back what it was made of") {
  random r(31);
  INFO(r.seed);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    data_description what;
    const auto rank = static_cast<std::size_t>(r.below(4));
    what.array.element_bytes = rank == 0 ? 0 : static_cast<std::size_t>(1 + r.below(16));
    what.bytes = rank == 0 ? static_cast<std::size_t>(r.below(100)) : what.array.element_bytes;
    for (std::size_t d = 0; d < rank; ++d) {
      what.array.extents.push_back(r.below(5));
      what.bytes *= static_cast<std::size_t>(what.array.extents.back());
    }
    what.array.column_major = rank > 0 && r.below(2) == 1;
    // A type of a user may have more bytes than elements.
    if (r.below(4) == 0) what.bytes += 3;
    if (r.below(4) == 0) what.ghosts_before = 1 + static_cast<std::size_t>(r.below(100));
    if (r.below(4) == 0) what.ghosts_after = 1 + static_cast<std::size_t>(r.below(100));
    std::byte place[1] = {};
    const auto parts = static_cast<std::size_t>(r.below(3));
    for (std::size_t i = 0; i < parts; ++i) what.original.push_back({place, i, 7, 2, 9});
    what.made_at = {"somewhere.cpp", round};
    const bool packed = parts == 0 || (parts == 1 && r.below(2) == 0);
    const data_layout kept(what, packed);
    CHECK(kept.bytes == what.bytes);
    CHECK(kept.made_at.line == round);
    CHECK(kept.partitionable() == (rank > 0));
    CHECK(kept.array().extents == what.array.extents);
    if (rank > 0) CHECK(kept.array().element_bytes == what.array.element_bytes);
    CHECK(kept.array().column_major == what.array.column_major);
    CHECK(kept.ghosts_before() == what.ghosts_before);
    CHECK(kept.ghosts_after() == what.ghosts_after);
    REQUIRE(kept.original().size() == (packed ? 0 : parts));
    for (std::size_t i = 0; i < kept.original().size(); ++i) CHECK(kept.original()[i].offset == i);
  }
}

TEST_CASE("instances keep their order and their addresses") {
  instance_list all;
  CHECK(all.empty());
  std::vector<data_instance*> expected;
  random r(32);
  INFO(r.seed);
  std::uint64_t number = 0;
  for (int round = 0; round < 200; ++round) {
    if (r.below(3) > 0) {
      auto fresh = std::make_unique<data_instance>();
      fresh->last_use = ++number;
      expected.push_back(&all.add(std::move(fresh)));
    } else if (!expected.empty()) {
      const auto which = expected.begin() + (r.below(static_cast<index_t>(expected.size())));
      const data_instance* gone = *which;
      all.erase_if([=](const data_instance& i) { return &i == gone; });
      expected.erase(which);
    }
    CHECK(all.empty() == expected.empty());
    if (!expected.empty()) CHECK(&all.front() == expected.front());
    std::vector<data_instance*> seen;
    for (data_instance* i : all) seen.push_back(i);
    CHECK(seen == expected);
  }
  all.clear();
  CHECK(all.empty());
}

TEST_CASE("data without a value takes at most 200 bytes") {
  // Beside itself: two counters and the table of functions of std::make_shared, and what an allocator keeps.
  constexpr std::size_t beside = 16 + sizeof(std::size_t);
  CHECK((sizeof(data_state) + beside + 15) / 16 * 16 <= 200);
  // Neither names, nor shapes of one dimension, nor places take memory of their own.
  CHECK(sizeof(data_place) <= 24);
  data_description line;
  line.bytes = 24;
  line.array = {8, {3}, false};
  CHECK(data_layout(line, true).plain());
}

}  // namespace
}  // namespace starling::test::data_layout_tests
