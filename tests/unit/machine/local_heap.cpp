// The bookkeeping of local memory, without memory behind it.
#include "machine/local_heap.hpp"

#include "support/failure.hpp"
#include "support/random.hpp"

namespace starling::test::local_heap_tests {
namespace {

std::byte* const start = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);

TEST_CASE("pieces, homes and ends") {
  local_heap h(start, 1 << 20, 256);
  std::byte* a = h.allocate({{1, 512}, {0, 256}, {host_place, 100}});
  CHECK(a == start);
  CHECK(h.home(a) == 1);
  CHECK(h.home(a + 511) == 1);
  CHECK(h.home(a + 512) == 0);
  CHECK(h.home(a + 768) == host_place);
  CHECK(h.home(a + 868) == local_heap::nowhere);
  CHECK(h.contains(a, 868));
  CHECK(h.contains(a + 868, 0));
  CHECK_FALSE(h.contains(a, 869));
  CHECK_FALSE(h.contains(start + 1024, 1));
  CHECK_FALSE(h.contains(start - 1, 1));
  CHECK(h.in_use(1) == 512);
  CHECK(h.in_use(host_place) == 100);
  CHECK(h.most_in_use() == 512);
  CHECK(h.allocate({{0, 1}}) == start + 1024);
  CHECK(h.free(a).pieces.size() == 3);
  CHECK(h.free(a).pieces.empty());
  CHECK_FALSE(h.contains(a, 1));
  CHECK(h.in_use(1) == 0);
}

TEST_CASE("no gap as large") {
  local_heap h(start, 1024, 256);
  std::byte* a = h.allocate({{0, 512}});
  (void)h.allocate({{0, 256}});
  h.free(a);
  check_parts(failure_of<memory_error>([&] { (void)h.allocate({{0, 768}}); }), {"768", "512"});
  CHECK_THROWS_AS((void)h.allocate({{0, ~std::size_t{0}}}), memory_error);
  CHECK(h.allocate({{0, 512}}) == a);
}

TEST_CASE("a guard lies behind each allocation") {
  local_heap h(start, 1 << 20, 256);
  h.set_guard(256, 1024);
  std::byte* a = h.allocate({{0, 100}});
  std::byte* b = h.allocate({{0, 600}});
  std::byte* c = h.allocate({{0, 5000}});
  CHECK(b >= a + 100 + 256);
  CHECK(c >= b + 600 + 600);
  CHECK(h.allocate({{0, 1}}) >= c + 5000 + 1024);
}

TEST_CASE("random allocations never overlap, and all comes back") {
  random r(7);
  INFO("seed ", r.seed);
  constexpr std::size_t bytes = 1 << 16;
  local_heap h(start, bytes, 64);
  std::vector<std::byte*> live;
  for (int i = 0; i < 3000; ++i) {
    if (!live.empty() && r.below(2) == 0) {
      const auto k = static_cast<std::ptrdiff_t>(r.below(static_cast<index_t>(live.size())));
      h.free(live[static_cast<std::size_t>(k)]);
      live.erase(live.begin() + k);
      continue;
    }
    try {
      live.push_back(h.allocate({{0, static_cast<std::size_t>(1 + r.below(3000))}}));
    } catch (const memory_error&) {
    }
    const auto all = h.live();
    for (std::size_t k = 1; k < all.size(); ++k) CHECK(all[k - 1].start + all[k - 1].bytes <= all[k].start);
  }
  for (std::byte* p : live) h.free(p);
  CHECK(h.allocate({{0, bytes}}) == start);
}

}  // namespace
}  // namespace starling::test::local_heap_tests
