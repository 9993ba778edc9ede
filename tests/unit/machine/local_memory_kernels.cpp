// Local memory: of one PE, of the host, and over several PEs; reached by kernels and copies of every PE.
#include "starling/machine/local_memory.hpp"

#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::local_memory_tests {
namespace {

// x[i] = 3 x[i] + i, for elements partitioned among the blocks of a launch.
struct turn {
  std::uint32_t* x;
  index_t n;
  STARLING_HD void operator()(block& b) const {
    b.for_each(b.my_share(n), [&](index_t i) { x[i] = 3 * x[i] + static_cast<std::uint32_t>(i); });
  }
};

std::vector<std::uint32_t> numbers(std::size_t n, std::uint32_t first) {
  std::vector<std::uint32_t> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = first + 7 * static_cast<std::uint32_t>(i);
  return v;
}

std::vector<std::uint32_t> turned(std::vector<std::uint32_t> v) {
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 3 * v[i] + static_cast<std::uint32_t>(i);
  return v;
}

std::uint32_t* words_of(const local_memory& m) { return reinterpret_cast<std::uint32_t*>(m.data()); }

std::vector<std::uint32_t> read_words(machine& m, const local_memory& from) {
  std::vector<std::uint32_t> v(from.size() / 4, poison_value<std::uint32_t>());
  m.copy(v.data(), from.data(), from.size());
  return v;
}

TEST_CASE("every PE works on the local memory of every place") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr std::size_t n = 1000;
  for (int home = managed_place; home < 3; ++home) {
    const local_memory memory = m->allocate_on(home, n * 4);
    REQUIRE(memory.size() == n * 4);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % 256 == 0);
    std::vector<std::uint32_t> wanted = numbers(n, 5);
    m->copy(memory.data(), wanted.data(), n * 4);
    for (int pe = 0; pe < 3; ++pe) {
      stream s = m->new_stream(pe);
      s.launch(3, turn{words_of(memory), n});
      s.synchronize();
      wanted = turned(wanted);
      CHECK(read_words(*m, memory) == wanted);
    }
  }
}

TEST_CASE("streams copy and fill local memory of every place") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr std::size_t bytes = 5000;
  const auto symmetric = poisoned<unsigned char>(*m, bytes);
  for (int home = managed_place; home < 2; ++home) {
    const local_memory a = m->allocate_on(home, bytes);
    const local_memory b = m->allocate_on(1 - std::max(home, 0), bytes);
    stream s = m->new_stream(1);
    s.fill(a.data(), 7, bytes);
    s.copy(b.data(), a.data(), bytes);
    s.copy(symmetric.on(0), b.data(), bytes);
    s.fill(a.data() + 100, 9, 1);
    s.copy_rows(symmetric.on(1), 10, a.data(), 100, 10, 50);
    s.synchronize();
    CHECK(read(*m, symmetric, 0) == std::vector<unsigned char>(bytes, 7));
    CHECK(read(*m, symmetric, 1)[9] == 7);
    CHECK(read(*m, symmetric, 1)[10] == 9);
    m->fill(a.data(), 3, bytes);
    std::vector<unsigned char> out(bytes);
    m->copy(out.data(), a.data(), bytes);
    CHECK(out == std::vector<unsigned char>(bytes, 3));
  }
}

TEST_CASE("one range over several PEs") {
  auto m = test_machine(3);
  if (!m) return;
  const std::size_t page = m->page_bytes();
  CHECK(page % 256 == 0);
  const local_memory memory = m->allocate_over({{2, page}, {2, 2 * page}, {0, page}, {1, page}, {2, page}});
  REQUIRE(memory.size() == 6 * page);
  std::vector<std::uint32_t> wanted = numbers(memory.size() / 4, 1);
  m->copy(memory.data(), wanted.data(), memory.size());
  for (int pe = 0; pe < 3; ++pe) {
    stream s = m->new_stream(pe);
    s.launch(5, turn{words_of(memory), static_cast<index_t>(memory.size() / 4)});
    s.synchronize();
    wanted = turned(wanted);
  }
  CHECK(read_words(*m, memory) == wanted);
  stream s = m->new_stream(0);
  s.fill(memory.data(), 0, memory.size());
  s.synchronize();
  CHECK(read_words(*m, memory) == std::vector<std::uint32_t>(memory.size() / 4, 0));
}

TEST_CASE("owners move, and the last one frees") {
  auto m = test_machine(2);
  if (!m) return;
  const local_memory none;
  CHECK(none.data() == nullptr);
  CHECK(none.size() == 0);
  const std::size_t page = m->page_bytes();
  const std::size_t before = m->free_bytes(1);
  local_memory a = m->allocate_on(1, page);
  std::byte* start = a.data();
  local_memory b = std::move(a);
  CHECK(a.data() == nullptr);
  CHECK(b.data() == start);
  if (!on_gpus()) CHECK(m->free_bytes(1) == before - page);
  if (!on_gpus()) CHECK(m->free_bytes(0) == before);
  b = m->allocate_on(0, 3 * page);
  if (!on_gpus()) CHECK(m->free_bytes(1) == before);
  CHECK(b.size() == 3 * page);
  b = local_memory();
  if (!on_gpus()) CHECK(m->free_bytes(0) == before);
}

TEST_CASE("local and symmetric memory of a virtual device come out of one memory") {
  if (skipped_on_gpus("have a memory of a chosen size")) return;
  machine m = machine::host(2, {.memory_bytes = 1 << 20});
  CHECK(m.free_bytes(0) == 1 << 20);
  {
    const local_memory a = m.allocate_on(0, 600 << 10);
    CHECK(m.free_bytes(0) == 424 << 10);
    CHECK(m.free_bytes(1) == 1 << 20);
    CHECK(m.memory().largest_free == 424 << 10);
    CHECK_THROWS_AS((void)m.allocate<char>(500 << 10), memory_error);
    const auto s = m.allocate<char>(400 << 10);
    CHECK(m.free_bytes(0) == 24 << 10);
    CHECK(m.free_bytes(1) == 624 << 10);
    CHECK_THROWS_AS((void)m.allocate_on(0, 25 << 10), memory_error);
    const local_memory b = m.allocate_over({{0, 24 << 10}, {1, 40 << 10}});
    CHECK(m.free_bytes(0) == 0);
  }
  CHECK(m.free_bytes(0) == 1 << 20);
  CHECK(m.memory().largest_free == 1 << 20);
}

TEST_CASE("fresh local memory of virtual devices is poisoned") {
  if (skipped_on_gpus("poison fresh memory")) return;
  machine m = machine::host(1);
  for (const int home : {host_place, 0}) {
    const local_memory a = m.allocate_on(home, 1000);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == std::byte{0xff});
  }
}

// What is live never overlaps, keeps its contents, and all of it comes back.
TEST_CASE("random allocations keep their contents") {
  auto m = test_machine(2);
  if (!m) return;
  random r(11);
  INFO("seed ", r.seed);
  struct held {
    local_memory memory;
    unsigned char byte;
  };
  std::vector<held> all;
  const auto most = static_cast<index_t>(3 * m->page_bytes());
  for (int i = 0; i < 200; ++i) {
    if (all.size() > 8 || (!all.empty() && r.below(3) == 0)) {
      const auto gone = static_cast<std::size_t>(r.below(static_cast<index_t>(all.size())));
      std::vector<unsigned char> out(all[gone].memory.size());
      m->copy(out.data(), all[gone].memory.data(), out.size());
      CHECK(out == std::vector<unsigned char>(out.size(), all[gone].byte));
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(gone));
      continue;
    }
    const auto byte = static_cast<unsigned char>(r.below(256));
    const int home = static_cast<int>(r.below(3)) - 1;
    all.push_back({m->allocate_on(home, static_cast<std::size_t>(1 + r.below(most))), byte});
    m->fill(all.back().memory.data(), byte, all.back().memory.size());
  }
}

}  // namespace
}  // namespace starling::test::local_memory_tests
