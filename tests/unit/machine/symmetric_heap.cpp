// The offset allocator behind symmetric memory: alignment, reuse, merging, bounds, against a simple model.
#include "machine/symmetric_heap.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "starling/base/error.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"

namespace starling::test::symmetric_heap_tests {
namespace {

constexpr std::size_t capacity = 64 * 256;
constexpr index_t stride = 1 << 20;

// Addresses only: the heap never touches the memory it manages.
std::byte* const start = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 32);

const symmetric_heap::layout layout{start, stride, 3, capacity};

void commit_nothing(std::size_t) {}

TEST_CASE("offsets are multiples of 256 and do not overlap") {
  symmetric_heap h(layout, commit_nothing);
  CHECK(h.allocate(1) == 0);
  CHECK(h.allocate(256) == 256);
  CHECK(h.allocate(257) == 512);
  CHECK(h.allocate(0) == 1024);
  CHECK(h.allocate(5) == 1280);
  CHECK(h.info().in_use == 6 * 256);
  CHECK(h.info().capacity == capacity);
  CHECK(h.info().largest_free == capacity - 6 * 256);
}

TEST_CASE("the copies of the PEs lie one stride apart") {
  symmetric_heap h(layout, commit_nothing);
  for (int pe = 0; pe < 3; ++pe) CHECK(h.on(512, pe) == start + pe * stride + 512);
  CHECK(h.in_range(start));
  CHECK(h.in_range(start + 3 * stride - 1));
  CHECK_FALSE(h.in_range(start - 1));
  CHECK_FALSE(h.in_range(start + 3 * stride));
}

TEST_CASE("freed neighbours merge, so that all memory can be had again in one piece") {
  symmetric_heap h(layout, commit_nothing);
  std::vector<std::size_t> offsets;
  for (int i = 0; i < 64; ++i) offsets.push_back(h.allocate(256));
  CHECK(h.info().largest_free == 0);
  for (std::size_t i = 0; i < 64; i += 2) h.free(offsets[i]);
  CHECK(h.info().largest_free == 256);
  for (std::size_t i = 1; i < 64; i += 2) h.free(offsets[i]);
  CHECK(h.info().largest_free == capacity);
  CHECK(h.info().in_use == 0);
  CHECK(h.allocate(capacity) == 0);
}

TEST_CASE("contains knows the bytes that were asked for, on every PE, while they live") {
  symmetric_heap h(layout, commit_nothing);
  h.allocate(256);
  const std::size_t offset = h.allocate(300);
  for (int pe = 0; pe < 3; ++pe) {
    const std::byte* at = h.on(offset, pe);
    CHECK(h.contains(at, 300, pe));
    CHECK(h.contains(at + 299, 1, pe));
    CHECK_FALSE(h.contains(at + 299, 2, pe));
    CHECK_FALSE(h.contains(at, 301, pe));
    CHECK_FALSE(h.contains(at + 300, 1, pe));
    CHECK_FALSE(h.contains(at - 1, 2, pe));
    CHECK_FALSE(h.contains(at, 1, (pe + 1) % 3));
  }
  h.free(offset);
  CHECK_FALSE(h.contains(h.on(offset, 0), 1, 0));
}

TEST_CASE("contains is not fooled by a number of bytes that wraps around") {
  symmetric_heap h(layout, commit_nothing);
  const std::size_t offset = h.allocate(300);
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK_FALSE(h.contains(h.on(offset, 0) + 8, most, 0));
  CHECK_FALSE(h.contains(h.on(offset, 0) + 8, most - 7, 0));
}

TEST_CASE("memory is committed up to the end of what is handed out, and only when that grows") {
  std::vector<std::size_t> ends;
  symmetric_heap h(layout, [&](std::size_t end) { ends.push_back(end); });
  const std::size_t first = h.allocate(1000);
  h.allocate(100);
  h.free(first);
  h.allocate(1000);
  h.allocate(10);
  CHECK(ends == std::vector<std::size_t>{1024, 1280, 1536});
}

TEST_CASE("an allocation whose memory cannot be committed leaves the heap as it was") {
  symmetric_heap h(layout, [](std::size_t end) { expect<memory_error>(end <= 1024, "no memory"); });
  h.allocate(1024);
  CHECK_THROWS_AS(h.allocate(1), memory_error);
  CHECK(h.info().in_use == 1024);
  CHECK(h.info().largest_free == capacity - 1024);
}

TEST_CASE("what does not fit is refused with the sizes, and what does fit still fits") {
  symmetric_heap h(layout, commit_nothing);
  const std::size_t a = h.allocate(8192);
  h.allocate(4096);
  h.free(a);
  check_parts(failure_of<memory_error>([&] { h.allocate(8193); }),
              {"8.25 KiB", "3 PEs", "largest free piece is 8 KiB", "4 KiB of 16 KiB", "STARLING_HOST_MEMORY"});
  for (const std::size_t bytes :
       {capacity + 1, std::numeric_limits<std::size_t>::max() / 2, std::numeric_limits<std::size_t>::max()}) {
    CAPTURE(bytes);
    CHECK_THROWS_AS(h.allocate(bytes), memory_error);
  }
  CHECK(h.allocate(8192) == 0);
}

TEST_CASE("a random mix of allocations agrees with a model") {
  random r(4711);
  INFO("seed ", r.seed);
  symmetric_heap h(layout, commit_nothing);
  std::map<std::size_t, std::size_t> live;  // offset -> bytes taken
  std::size_t in_use = 0;
  for (int step = 0; step < 5000; ++step) {
    if (!live.empty() && r.below(2) == 0) {
      auto victim = live.begin();
      std::advance(victim, r.below(static_cast<index_t>(live.size())));
      h.free(victim->first);
      in_use -= victim->second;
      live.erase(victim);
    } else {
      const auto bytes = static_cast<std::size_t>(1 + r.below(1500));
      const std::size_t taken = (bytes + 255) / 256 * 256;
      const bool fits = h.info().largest_free >= taken;
      if (!fits) {
        CHECK_THROWS_AS(h.allocate(bytes), memory_error);
        continue;
      }
      const std::size_t offset = h.allocate(bytes);
      const auto next = live.lower_bound(offset);
      CHECK(offset + taken <= (next == live.end() ? capacity : next->first));
      if (next != live.begin()) CHECK(std::prev(next)->first + std::prev(next)->second <= offset);
      live[offset] = taken;
      in_use += taken;
    }
    CHECK(h.info().in_use == in_use);
  }
}

}  // namespace
}  // namespace starling::test::symmetric_heap_tests
