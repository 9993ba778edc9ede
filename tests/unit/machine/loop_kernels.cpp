// Loops of recorded work: a given number of times, and while a value that the work computes is not 0. Where the devices
// cannot loop on their own there is none, and the test says so.
#include <algorithm>

#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::loop_tests {
namespace {

struct count_down {
  sym<std::uint32_t> left;
  sym<std::uint32_t> rounds;
  STARLING_HD void operator()(block& b) const {
    if (b.member() != 0) return;
    *left.on(b.pe()) -= 1;
    *rounds.on(b.pe()) += 1;
  }
};

bool none(const std::optional<graph>& loop) {
  if (!loop) MESSAGE("skipped: these devices do not loop on their own");
  return !loop;
}

TEST_CASE("so many times") {
  auto m = test_machine(1);
  if (!m) return;
  for (const std::uint64_t times : {1, 2, 7, 300}) {
    auto left = zeroed<std::uint32_t>(*m, 1);
    auto rounds = zeroed<std::uint32_t>(*m, 1);
    stream s = m->new_stream(0);
    const graph body = m->record(s, [&] { s.launch(1, count_down{left.data(), rounds.data()}); });
    const std::optional<graph> loop = body.loop({times});
    if (none(loop)) return;
    CHECK(loop->operations() == 1);
    s.synchronize();
    CHECK(read(*m, rounds, 0)[0] == 0);
    for (int launches = 1; launches <= 3; ++launches) {
      loop->launch(s);
      body.launch(s);
      s.synchronize();
      CHECK(read(*m, rounds, 0)[0] == static_cast<std::uint32_t>(launches) * (times + 1));
    }
  }
}

TEST_CASE("while a value is not 0, and not more often than allowed") {
  auto m = test_machine(1);
  if (!m) return;
  for (const std::uint32_t start : {1u, 2u, 5u, 65536u + 256u})
    for (const std::uint64_t most : {1, 3, 100}) {
      CAPTURE(start);
      CAPTURE(most);
      auto left = zeroed<std::uint32_t>(*m, 1);
      auto rounds = zeroed<std::uint32_t>(*m, 1);
      m->copy(left.on(0), &start, sizeof start);
      stream s = m->new_stream(0);
      const graph body = m->record(s, [&] { s.launch(1, count_down{left.data(), rounds.data()}); });
      const std::optional<graph> loop = body.loop({most, left.on(0), sizeof(std::uint32_t)});
      if (none(loop)) return;
      loop->launch(s);
      s.synchronize();
      CHECK(read(*m, rounds, 0)[0] == std::min<std::uint64_t>(start, most));
      CHECK(read(*m, left, 0)[0] == start - std::min<std::uint64_t>(start, most));
    }
}

// Every byte of a flag counts.
TEST_CASE("flags of all sizes") {
  auto m = test_machine(1);
  if (!m) return;
  for (const std::size_t bytes : {1, 2, 4, 8})
    for (std::size_t set = 0; set < 8; ++set) {
      auto rounds = zeroed<std::uint32_t>(*m, 2);
      auto flag = zeroed<std::uint64_t>(*m, 1);
      const std::uint64_t value = std::uint64_t{1} << (8 * set);
      m->copy(flag.on(0), &value, sizeof value);
      stream s = m->new_stream(0);
      const graph body = m->record(s, [&] { s.launch(1, count_down{rounds.data() + 1, rounds.data()}); });
      const std::optional<graph> loop = body.loop({4, flag.on(0), bytes});
      if (none(loop)) return;
      loop->launch(s);
      s.synchronize();
      CHECK(read(*m, rounds, 0)[0] == (set < bytes ? 4 : 1));
    }
}

TEST_CASE("work of several streams, other launches of the same work, and loops that go while they run") {
  auto m = test_machine(1);
  if (!m) return;
  auto left = zeroed<std::uint32_t>(*m, 4);
  auto rounds = zeroed<std::uint32_t>(*m, 4);
  stream s = m->new_stream(0);
  stream t = m->new_stream(0);
  event forked = m->new_event(0);
  event joined = m->new_event(0);
  {
    const graph body = m->record(s, [&] {
      s.launch(1, count_down{left.data(), rounds.data()});
      s.record(forked);
      t.wait(forked);
      t.launch(1, count_down{left.data() + 1, rounds.data() + 1});
      s.launch(1, count_down{left.data() + 2, rounds.data() + 2});
      t.record(joined);
      s.wait(joined);
      s.launch(1, count_down{left.data() + 1, rounds.data() + 1});
    });
    const std::optional<graph> loop = body.loop({20});
    if (none(loop)) return;
    loop->launch(s);
    loop->launch(s);
  }
  s.synchronize();
  CHECK(read(*m, rounds, 0) == std::vector<std::uint32_t>{40, 80, 40, 0});
}

TEST_CASE("functions of the host in a loop: as often, where there is one") {
  auto m = test_machine(1);
  if (!m) return;
  stream s = m->new_stream(0);
  int calls = 0;
  const graph body = m->record(s, [&] { s.call([&calls] { ++calls; }); });
  const std::optional<graph> loop = body.loop({6});
  CHECK(loop.has_value() == (!on_gpus() && !m->checking()));
  if (!loop) return;
  loop->launch(s);
  s.synchronize();
  CHECK(calls == 6);
}

TEST_CASE("a loop that fails stops, and its stream says why") {
  if (skipped_on_gpus("throw what functions throw in loops")) return;
  machine m = machine::host(1);
  if (m.checking()) return;
  stream s = m.new_stream(0);
  int calls = 0;
  const graph body = m.record(s, [&] {
    s.call([&calls] {
      if (++calls == 3) throw range_error("enough");
    });
  });
  const std::optional<graph> loop = body.loop({10});
  REQUIRE(loop);
  loop->launch(s);
  check_parts(failure_of<range_error>([&] { s.synchronize(); }), {"enough"});
  CHECK(calls == 3);
  loop->launch(s);
  s.synchronize();
  CHECK(calls == 13);
}

TEST_CASE("conditions that make no sense") {
  auto m = test_machine(1);
  if (!m) return;
  auto flag = zeroed<std::uint32_t>(*m, 1);
  stream s = m->new_stream(0);
  const graph body = m->record(s, [&] { s.launch(1, count_down{flag.data(), flag.data()}); });
  check_parts(failure_of<argument_error>([&] { (void)body.loop({0}); }), {"most = 0", "at least once"});
  for (const std::size_t bytes : {0, 3, 5, 9, 1000})
    check_parts(failure_of<argument_error>([&] { (void)body.loop({2, flag.on(0), bytes}); }),
                {message("flag of ", bytes, " bytes"), "1, 2, 4 or 8"});
  check_parts(failure_of<argument_error>([&] { (void)body.loop({2, nullptr, 4}); }), {"flag of 4 bytes"});
  check_parts(failure_of<range_error>([&] { (void)body.loop({2, flag.on(0) + (1 << 12), 8}); }), {"flag"});
  // Of a loop there is no loop, and none is recorded.
  const std::optional<graph> loop = body.loop({2});
  if (none(loop)) return;
  CHECK_FALSE(loop->loop({2}).has_value());
  CHECK_THROWS_AS((void)m->record(s, [&] { loop->launch(s); }), argument_error);
}

}  // namespace
}  // namespace starling::test::loop_tests
