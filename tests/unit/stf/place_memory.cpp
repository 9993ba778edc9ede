// place_memory against a plain reference: blocks never overlap, free neighbours join, the cap holds, and who gets a
// block waits for all who used any of its bytes before.
#include "stf/memory/place_memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "support/random.hpp"

namespace starling::test::place_memory_tests {
namespace {

using stf::memory_block;
using stf::place_memory;
using stf::sync_point;
using stf::sync_point_list;

// The latest sync point of every slot that a list has.
std::map<std::uint32_t, std::uint64_t> latest(const sync_point_list& all) {
  std::map<std::uint32_t, std::uint64_t> found;
  for (const sync_point& m : all) found[m.slot] = std::max(found[m.slot], m.number);
  return found;
}

// Who used each unit of 256 bytes last, by its address.
class reference {
 public:
  void allocated(const memory_block& b, const sync_point_list& before) {
    CHECK(reinterpret_cast<std::uintptr_t>(b.start) % place_memory::alignment == 0);
    CHECK(b.bytes % place_memory::alignment == 0);
    const auto known = latest(before);
    for (std::size_t at = 0; at < b.bytes; at += place_memory::alignment) {
      std::byte* unit = b.start + at;
      if (taken_.count(unit) > 0) FAIL_CHECK("two blocks overlap");
      taken_[unit] = true;
      for (const auto& [slot, number] : last_[unit]) {
        const auto k = known.find(slot);
        if (k == known.end() || k->second < number) FAIL_CHECK("an earlier user is not waited for");
      }
    }
    in_use_ += b.bytes;
  }
  void freed(const memory_block& b, const sync_point_list& uses) {
    for (std::size_t at = 0; at < b.bytes; at += place_memory::alignment) {
      taken_.erase(b.start + at);
      last_[b.start + at] = latest(uses);
    }
    in_use_ -= b.bytes;
  }
  std::size_t in_use() const { return in_use_; }

 private:
  std::map<std::byte*, bool> taken_;
  std::map<std::byte*, std::map<std::uint32_t, std::uint64_t>> last_;
  std::size_t in_use_ = 0;
};

void run_random(random& r, std::size_t cap) {
  INFO("STARLING_TEST_SEED=" << r.seed << ", cap " << cap);
  const machine m = machine::host(1);
  place_memory memory(m, cap, stf::memory_of_machine(m, 0));
  reference expected;
  std::vector<memory_block> live;
  std::uint64_t now = 0;
  for (int step = 0; step < 600; ++step) {
    if (live.empty() || r.below(5) < 3) {
      const auto bytes = static_cast<std::size_t>(r.below(r.below(4) == 0 ? 20'000 : 1500));
      const std::size_t largest = memory.used().largest_free;
      sync_point_list before;
      const auto block = memory.allocate(bytes, before);
      if (!block) {
        CHECK(cap > 0);
        CHECK(largest < std::max<std::size_t>(bytes, 1));
        continue;
      }
      CHECK(block->bytes >= std::max<std::size_t>(bytes, 1));
      CHECK(block->bytes < bytes + place_memory::alignment + 1);
      expected.allocated(*block, before);
      live.push_back(*block);
    } else {
      const auto which = static_cast<std::size_t>(r.below(static_cast<index_t>(live.size())));
      sync_point_list uses;
      const index_t users = 1 + r.below(3);
      for (index_t u = 0; u < users; ++u) uses.add(sync_point{static_cast<std::uint32_t>(r.below(4)), ++now});
      memory.free(live[which], uses);
      expected.freed(live[which], uses);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
    const place_memory::usage u = memory.used();
    CHECK(u.in_use == expected.in_use());
    CHECK(u.most_in_use >= u.in_use);
    CHECK(u.reserved >= u.in_use);
    if (cap > 0) CHECK(u.reserved <= cap);
  }
  // All of it joins again.
  for (const memory_block& b : live) memory.free(b, {});
  CHECK(memory.used().in_use == 0);
  if (cap > 0) CHECK(memory.used().largest_free == cap / place_memory::alignment * place_memory::alignment);
  memory.trim([](const sync_point_list&) { return false; });
  CHECK(memory.used().reserved > 0);
  memory.trim([](const sync_point_list&) { return true; });
  CHECK(memory.used().reserved == 0);
  CHECK(memory.used().largest_free == 0);
  sync_point_list before;
  CHECK(memory.allocate(1, before));
  CHECK(before.empty());
}

TEST_CASE("random allocations without a cap") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    random r(seed);
    run_random(r, 0);
  }
}

TEST_CASE("random allocations under a cap") {
  for (const std::size_t cap : {256u, 1000u, 30'000u, 1u << 20}) {
    random r(cap);
    run_random(r, cap);
  }
}

TEST_CASE("neighbours join, whatever the order, and bring their sync points") {
  constexpr std::size_t unit = place_memory::alignment;
  std::vector<int> order = {0, 1, 2};
  do {
    const machine m = machine::host(1);
    place_memory memory(m, 3 * unit, stf::memory_of_machine(m, 0));
    sync_point_list before;
    std::vector<memory_block> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(*memory.allocate(unit, before));
    CHECK(before.empty());
    CHECK_FALSE(memory.allocate(1, before));
    for (const int i : order) {
      sync_point_list uses;
      uses.add(sync_point{static_cast<std::uint32_t>(i), 10});
      memory.free(blocks[static_cast<std::size_t>(i)], uses);
    }
    CHECK(memory.used().largest_free == 3 * unit);
    CHECK(memory.allocate(3 * unit, before)->start == blocks[0].start);
    CHECK(latest(before) == std::map<std::uint32_t, std::uint64_t>{{0, 10}, {1, 10}, {2, 10}});
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("the machine has less than the cap") {
  machine m = machine::host(1, {.memory_bytes = 1 << 20});
  place_memory memory(m, std::size_t{1} << 40, stf::memory_of_machine(m, 0));
  sync_point_list before;
  CHECK(memory.allocate(1000, before));
  CHECK_FALSE(memory.allocate(std::size_t{1} << 30, before));
  CHECK(memory.used().reserved <= 1 << 20);
}

TEST_CASE("in check mode blocks are allocations of their own, used again for the same size alone") {
  const machine m = machine::host(1).check({.seeds = 1});
  place_memory memory(m, 1000, stf::memory_of_machine(m, 0));
  sync_point_list before;
  const auto a = memory.allocate(100, before);
  const auto b = memory.allocate(900, before);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->bytes == 100);
  CHECK(b->bytes == 900);
  CHECK(std::max(a->start, b->start) >= std::min(a->start, b->start) + 900 + 256);
  CHECK_FALSE(memory.allocate(1, before));
  CHECK(before.empty());
  sync_point_list uses;
  uses.add(sync_point{2, 7});
  memory.free(*b, uses);
  CHECK(memory.used().in_use == 100);
  CHECK(memory.used().largest_free == 900);
  const auto c = memory.allocate(800, before);
  REQUIRE(c);
  CHECK(c->start != b->start);
  CHECK(before.empty());
  memory.free(*c, {});
  const auto again = memory.allocate(900, before);
  REQUIRE(again);
  CHECK(again->start == b->start);
  CHECK(latest(before)[2] == 7);
  memory.free(*again, {});
  memory.free(*a, {});
  memory.trim([](const sync_point_list&) { return true; });
  CHECK(memory.used().reserved == 0);
}

}  // namespace
}  // namespace starling::test::place_memory_tests
