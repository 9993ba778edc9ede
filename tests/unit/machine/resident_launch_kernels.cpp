// Resident launches of streams: all blocks at once, so that they meet by sync_pe; several streams and graphs together.
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::resident_launch_tests {
namespace {

// In every round each block adds what its left neighbour has.
struct rounds {
  sym<std::uint32_t> x;  // [2][blocks]
  int n;
  STARLING_HD void operator()(block& b) const {
    const int blocks = b.blocks_per_pe();
    std::uint32_t* mine = x.on(b.pe());
    for (int i = 0; i < n; ++i) {
      const std::uint32_t* from = mine + (i % 2) * blocks;
      std::uint32_t* to = mine + (1 - i % 2) * blocks;
      if (b.member() == 0) to[b.index()] = from[b.index()] + from[(b.index() + blocks - 1) % blocks];
      b.sync_pe();
    }
  }
};

std::vector<std::uint32_t> after(std::vector<std::uint32_t> v, int n) {
  for (int i = 0; i < n; ++i) {
    const std::vector<std::uint32_t> from = v;
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = from[k] + from[(k + v.size() - 1) % v.size()];
  }
  return v;
}

std::vector<std::uint32_t> first_of(std::vector<std::uint32_t> both) {
  both.resize(both.size() / 2);
  return both;
}

constexpr launch_options resident{.threads = 64, .resident = true};

TEST_CASE("blocks of a resident launch meet") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr int blocks = 7;
  auto data = zeroed<std::uint32_t>(*m, 2 * blocks);
  std::vector<std::uint32_t> start(2 * blocks, 0);
  start[0] = 1;
  stream s = m->new_stream(1);
  write(*m, data, 1, start);
  std::vector<std::uint32_t> wanted = first_of(start);
  for (int i = 1; i < 6; ++i) {  // launch after launch, each from zeroed words
    s.launch(blocks, rounds{data.data(), 2 * i}, resident);
    wanted = after(wanted, 2 * i);
  }
  s.synchronize();
  CHECK(first_of(read(*m, data, 1)) == wanted);
}

TEST_CASE("several streams have resident launches at the same time") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr int blocks = 3;
  constexpr int streams = 4;
  std::vector<symmetric_array<std::uint32_t>> data;
  std::vector<stream> s;
  std::vector<std::uint32_t> start(2 * blocks, 0);
  start[1] = 5;
  for (int i = 0; i < streams; ++i) {
    data.push_back(poisoned<std::uint32_t>(*m, 2 * blocks));
    s.push_back(m->new_stream(i % 2));
    write(*m, data.back(), i % 2, start);
  }
  for (int again = 0; again < 3; ++again)
    for (std::size_t i = 0; i < streams; ++i) s[i].launch(blocks, rounds{data[i].data(), 4}, resident);
  for (std::size_t i = 0; i < streams; ++i) {
    s[i].synchronize();
    CHECK(first_of(read(*m, data[i], static_cast<int>(i % 2))) == after(first_of(start), 12));
  }
}

TEST_CASE("a graph with resident launches side by side, launched again and again") {
  auto m = test_machine(1);
  if (!m) return;
  constexpr int blocks = 3;
  auto a = zeroed<std::uint32_t>(*m, 2 * blocks);
  auto b = zeroed<std::uint32_t>(*m, 2 * blocks);
  std::vector<std::uint32_t> start(2 * blocks, 0);
  start[2] = 9;
  write(*m, a, 0, start);
  write(*m, b, 0, start);
  stream s = m->new_stream(0);
  stream t = m->new_stream(0);
  event forked = m->new_event(0);
  event joined = m->new_event(0);
  const graph g = m->record(s, [&] {
    s.record(forked);
    t.wait(forked);
    s.launch(blocks, rounds{a.data(), 2}, resident);
    t.launch(blocks, rounds{b.data(), 4}, resident);
    t.launch(blocks, rounds{b.data(), 2}, resident);
    t.record(joined);
    s.wait(joined);
  });
  for (int i = 0; i < 5; ++i) g.launch(s);
  s.synchronize();
  CHECK(first_of(read(*m, a, 0)) == after(first_of(start), 10));
  CHECK(first_of(read(*m, b, 0)) == after(first_of(start), 30));
}

}  // namespace
}  // namespace starling::test::resident_launch_tests
