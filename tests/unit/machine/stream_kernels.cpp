// Streams: order within one, order between several by events, copies, and errors that surface at synchronize.
#include "starling/machine/stream.hpp"

#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::stream_tests {
namespace {

// x = 3 x + add, for n elements partitioned among the blocks of a launch.
struct step {
  sym<std::uint32_t> x;
  index_t n;
  std::uint32_t add;

  STARLING_HD void operator()(block& b) const {
    b.for_each(b.my_share(n), [&](index_t i) { x.on(b.pe())[i] = 3 * x.on(b.pe())[i] + add; });
  }
};

TEST_CASE("a stream runs its work in order") {
  auto m = test_machine(1);
  if (!m) return;
  constexpr index_t n = 1000;
  auto a = m->allocate<std::uint32_t>(n);
  auto copies = poisoned<std::uint32_t>(*m, 10 * n);
  stream s = m->new_stream(0);
  CHECK(s.pe() == 0);
  s.fill(a.on(0), 0, n * sizeof(std::uint32_t));
  std::vector<std::uint32_t> wanted;
  std::uint32_t x = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    s.launch(1 + static_cast<int>(i % 5), step{a.data(), n, i});
    x = 3 * x + i;
    if (i % 10 == 9) {
      s.copy(copies.on(0) + i / 10 * n, a.on(0), n * sizeof(std::uint32_t));
      wanted.insert(wanted.end(), n, x);
    }
  }
  s.synchronize();
  CHECK(read(*m, a, 0) == std::vector<std::uint32_t>(n, x));
  CHECK(read(*m, copies, 0) == wanted);
}

TEST_CASE("a launch runs each of its blocks once, on the stream's PE") {
  auto m = test_machine(3);
  if (!m) return;
  constexpr int blocks = 300;
  auto counts = zeroed<int>(*m, blocks);
  const sym<int> x = counts.data();
  auto k = STARLING_KERNEL(block & b) {
    b.atomic_fetch_add(x + b.index(), b.blocks_per_pe() == blocks && b.pe() == 1 ? 1 : 1000, b.pe());
  };
  stream s = m->new_stream(1);
  CHECK(s.pe() == 1);
  s.launch(blocks, k);
  s.synchronize();
  CHECK(read(*m, counts, 1) == std::vector<int>(blocks, 1));
  CHECK(read(*m, counts, 0) == std::vector<int>(blocks, 0));
}

TEST_CASE("copies of streams go between PEs and the host") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = poisoned<int>(*m, 64);
  std::vector<int> from(64);
  for (int i = 0; i < 64; ++i) from[static_cast<std::size_t>(i)] = i + 1;
  std::vector<int> to(64, -1);
  stream s = m->new_stream(0);
  s.copy(a.on(0), from.data(), 64 * sizeof(int));
  s.copy(a.on(1), a.on(0), 64 * sizeof(int));
  s.copy(to.data(), a.on(1), 64 * sizeof(int));
  s.copy(nullptr, nullptr, 0);
  s.synchronize();
  CHECK(to == from);
}

TEST_CASE("copy_rows moves rows and leaves what lies between them") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = poisoned<unsigned char>(*m, 20 * 32);
  auto b = poisoned<unsigned char>(*m, 20 * 16);
  std::vector<unsigned char> values(20 * 32);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned char>(i * 7);
  write(*m, a, 0, values);
  stream s = m->new_stream(0);
  s.copy_rows(b.on(1) + 3, 16, a.on(0) + 5, 32, 9, 18);
  s.copy_rows(b.on(1), 16, a.on(0), 32, 0, 18);
  s.copy_rows(b.on(1), 16, a.on(0), 32, 9, 0);
  s.synchronize();
  const std::vector<unsigned char> seen = read(*m, b, 1);
  std::vector<unsigned char> wanted(20 * 16, poison);
  for (std::size_t row = 0; row < 18; ++row)
    for (std::size_t i = 0; i < 9; ++i) wanted[row * 16 + 3 + i] = values[row * 32 + 5 + i];
  CHECK(seen == wanted);
}

TEST_CASE("events order the streams of different PEs, back and forth") {
  auto m = test_machine(2);
  if (!m) return;
  constexpr index_t n = 500;
  auto a = zeroed<std::uint32_t>(*m, n);
  stream s[2] = {m->new_stream(0), m->new_stream(1)};
  event done[2] = {m->new_event(0), m->new_event(1)};
  std::uint32_t x = 0;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const int here = static_cast<int>(i % 2);
    const int there = 1 - here;
    // Works on the data here, then hands it to the other PE, whose stream waits for it.
    s[here].wait(done[there]);
    s[here].launch(2, step{a.data(), n, i});
    s[here].copy(a.on(there), a.on(here), n * sizeof(std::uint32_t));
    s[here].record(done[here]);
    x = 3 * x + i;
  }
  done[1].synchronize();
  CHECK(done[1].done());
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, a, pe) == std::vector<std::uint32_t>(n, x));
}

TEST_CASE("a stream that is destroyed has finished its work") {
  auto m = test_machine(1);
  if (!m) return;
  auto a = zeroed<std::uint32_t>(*m, 100);
  event e = m->new_event(0);
  {
    stream s = m->new_stream(0);
    for (std::uint32_t i = 0; i < 20; ++i) s.launch(1, step{a.data(), 100, 1});
    s.record(e);
  }
  e.synchronize();
  std::uint32_t x = 0;
  for (int i = 0; i < 20; ++i) x = 3 * x + 1;
  CHECK(read(*m, a, 0) == std::vector<std::uint32_t>(100, x));
}

}  // namespace
}  // namespace starling::test::stream_tests
