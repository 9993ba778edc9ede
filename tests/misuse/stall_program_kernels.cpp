// What a stall does to everything else: other blocks, other programs, later programs.
#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::stall_program_tests {
namespace {

const launch_options soon{.deadline = stall_deadline};

TEST_CASE("of many blocks that wait, all are reported, and all end") {
  auto m = test_machine(4);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  auto k = STARLING_KERNEL(block & b) { b.wait(s, 1 + b.index(), (b.pe() + 1) % 4); };
  const auto e = stall_of([&] { m->run(32, k, soon); });
  REQUIRE(e);
  CHECK(e->reports().size() == 128);
  for (int pe = 0; pe < 4; ++pe)
    for (int i = 0; i < 32; ++i) {
      const block_report r = report_of(*e, pe, i);
      CHECK((r.state == block_state::waiting || r.state == block_state::expired));
      CHECK(r.wanted == static_cast<std::uint64_t>(1 + i));
      CHECK(r.peer == (pe + 1) % 4);
    }
  CHECK(e->cycle().size() >= 4);
  check_parts(e->what(), {"... and 64 more lines"});
  check_usable(*m);
}

TEST_CASE("a loop around test ends when another block has stalled") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 2);
  auto ended = zeroed<int>(*m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = ended.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) b.wait(s, 1, 1);
    // So many looks take far longer than the deadline.
    for (long long looks = 0; looks < 4000000000; ++looks)
      if (b.test(s + 1, compare::ge, 1)) break;
    if (b.member() == 0) *x.on(b.pe()) = 1;
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  CHECK(report_of(*e, 0, 0).state == block_state::expired);
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, ended, pe)[0] == 0);
  check_usable(*m);
}

TEST_CASE("a block that computes is not disturbed, and what it wrote is there") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  auto data = zeroed<int>(*m, 100);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.index() == 0) b.wait(s, 1, 1 - b.pe());
    b.for_each(100, [&](index_t i) { x.on(b.pe())[i] = static_cast<int>(i) + b.pe(); });
  };
  CHECK_THROWS_AS(m->run(2, k, soon), stall_error);
  for (int pe = 0; pe < 2; ++pe) {
    const std::vector<int> seen = read(*m, data, pe);
    for (int i = 0; i < 100; ++i) CHECK(seen[static_cast<std::size_t>(i)] == i + pe);
  }
}

TEST_CASE("when one thread has stalled, the others of its block do not get past their next barrier") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  auto after = zeroed<int>(*m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = after.data();
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 1) return;
    if (b.member() == 0) b.thread().wait(s, 1, 1);
    b.sync_pe();
    *x.on(0) = 1;
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  check_wait(report_of(*e, 0, 0), {operation::wait, 0, 1, compare::ge, 1, 0, "misuse/stall_program_kernels.cpp", line});
  CHECK(read(*m, after, 0)[0] == 0);
  check_usable(*m);
}

// What the threads that are left call in a loop that nothing else ends.
enum class collective : int { test, any, first, reduce, atomic, wait_all, all_reduce, broadcast, warp_any, count };

STARLING_HD bool goes_on(block& b, collective call, sym<signal> s, sym<int> x) {
  switch (call) {
    case collective::test:
      return !b.test(s, compare::ge, 1);
    case collective::any:
      return b.any(b.member() != 0);
    case collective::first:
      return b.first(1) != 0;
    case collective::reduce:
      return b.reduce(1, plus{}) > 0;
    case collective::atomic:
      return b.atomic_fetch(x, b.pe()) == 0;
    case collective::wait_all:
      b.wait_all(s + 1, 1, 0);
      return true;
    case collective::all_reduce:
      return b.all_reduce(1, plus{}) > 0;
    case collective::broadcast:
      return b.broadcast(1, 0) > 0;
    default:  // the other warps go on to the barrier of the block
      if (b.warp().rank() == 0)
        while (b.warp().any(b.member() != 0)) {
        }
      b.sync_pe();
      return true;
  }
}

TEST_CASE("when one thread has stalled, no collective of its block loops for ever") {
  auto m = test_machine(1);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 2);
  auto after = zeroed<int>(*m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = after.data();
  for (int i = 0; i < static_cast<int>(collective::count); ++i) {
    CAPTURE(i);
    const auto call = static_cast<collective>(i);
    auto k = STARLING_KERNEL(block & b) {
      if (b.member() == 0) b.thread().wait(s, 1, 0);
      while (goes_on(b, call, s, x)) {
      }
      *x.on(0) = 1;
    };
    CHECK_THROWS_AS(m->run(1, k, soon), stall_error);
    CHECK(read(*m, after, 0)[0] == 0);
  }
  check_usable(*m);
}

TEST_CASE("a thread that returns from the kernel before the others' collective") {
  if (!on_gpus()) return;  // a block of a virtual device is one thread
  auto m = test_machine(1);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    if (b.member() >= 7) return;
    b.wait(s, 0);
  };
  check_parts(failure_of<argument_error>([&] { m->run(1, k); }),
              {message("wait at "), message("stall_program_kernels.cpp:", line), "PE 0 block 0",
               "threads of the block have returned", "skip work instead of returning"});
  check_usable(*m);
}

TEST_CASE("a stall in one of two programs ends the other, which has a longer deadline") {
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  const sym<signal> s = signals.data();
  role_plan first;
  first.add("patient", 2);
  role_plan second;
  second.add("hasty", 1);
  auto patient = STARLING_KERNEL(block & b) { b.wait(s, 1); };
  auto hasty = STARLING_KERNEL(block & b) { b.wait(s, 2, 0); };
  const auto e = stall_of([&] {
    m->run({program{first, make_kernel(patient), {.deadline = 500}}, program{second, make_kernel(hasty), soon}});
  });
  REQUIRE(e);
  CHECK(e->reports().size() == 2);
  check_parts(e->what(), {"deadline of 0.1 s", "(hasty)", ">= 2 wanted"});
  check_usable(*m);
}

TEST_CASE("a machine runs again after every one of many stalls, and loses no memory") {
  auto m = test_machine(3);
  if (!m) return;
  check_usable(*m);
  const memory_info before = m->memory();
  auto stall = STARLING_KERNEL(block & b) {
    if (b.pe() != 2) b.sync_all();
  };
  for (int again = 0; again < 8; ++again) {
    CHECK_THROWS_AS(m->run(3, stall, {.deadline = 0.02}), stall_error);
    check_usable(*m);
  }
  CHECK(m->memory().in_use == before.in_use);
  CHECK(m->memory().largest_free == before.largest_free);
}

}  // namespace
}  // namespace starling::test::stall_program_tests
