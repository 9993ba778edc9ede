// Blocks of GPUs that loop without waiting, which nothing can end: the stall is told all the same, and the machine says
// that it is busy until they have returned. On virtual devices `run` waits for them.
#include <chrono>
#include <thread>

#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::stall_busy_tests {
namespace {

using clock = std::chrono::steady_clock;

constexpr const char* file = "misuse/stall_busy_kernels.cpp";
constexpr std::uint64_t spin_ns = 3000000000;

// PE 0 waits for a signal that never comes; PE 1 computes for 3 seconds.
struct spin_or_wait {
  sym<signal> s;
  sym<int> x;
  static constexpr int line = __LINE__ + 3;  // of the wait

  STARLING_HD void operator()(block& b) const {
    if (b.pe() == 0) b.wait(s, 1, 1);
    const std::uint64_t start = target::now_ns();
    while (b.pe() == 1 && target::now_ns() - start < spin_ns) {
    }
    if (b.member() == 0) *x.on(b.pe()) = 1;
  }
};

// Calls f until it does not say any more that the machine is busy; the test fails when that takes far too long.
template <class F>
void until_idle(const F& f) {
  const auto limit = clock::now() + std::chrono::seconds(20);
  while (true) try {
      f();
      return;
    } catch (const device_error&) {
      if (clock::now() > limit) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

TEST_CASE("a stall is told while another block loops, and the machine works again when that has returned") {
  if (!on_gpus()) return;
  auto m = test_machine(2);
  if (!m) return;
  check_usable(*m);
  auto signals = zeroed<signal>(*m, 1);
  auto after = zeroed<int>(*m, 1);
  stream earlier = m->new_stream(0);
  const auto begin = clock::now();
  const auto e = stall_of([&] { m->run(1, spin_or_wait{signals.data(), after.data()}, {.deadline = 0.3}); });
  CHECK(std::chrono::duration<double>(clock::now() - begin).count() < 2.9);
  REQUIRE(e);
  CHECK(report_of(*e, 0, 0).state == block_state::expired);
  check_wait(report_of(*e, 0, 0), {operation::wait, 0, 1, compare::ge, 1, 0, file, spin_or_wait::line});
  CHECK(report_of(*e, 1, 0).state == block_state::running);
  check_parts(e->what(), {"PE 1 block 0 (all): running", "loop without waiting", "bound such loops"});

  const auto check_busy = [](const char* call, const auto& f) {
    check_parts(failure_of<device_error>(f), {message(call, ": PE 1 ("), "still runs blocks", "loop without waiting",
                                              "Call again once they have returned, or end the process"});
  };
  int there = 7;
  check_busy("machine::run", [&] { m->run(1, meet_and_shift{}); });
  check_busy("machine::copy", [&] { m->copy(&there, after.on(0), sizeof there); });
  check_busy("machine::fill", [&] { m->fill(after.on(0), 1, sizeof there); });
  check_busy("machine::allocate", [&] { (void)m->allocate<int>(1); });
  check_busy("machine::new_stream", [&] { (void)m->new_stream(1); });
  check_busy("stream::launch", [&] { earlier.launch(1, meet_and_shift{}); });
  check_busy("stream::copy", [&] { earlier.copy(&there, after.on(0), sizeof there); });
  CHECK(there == 7);

  until_idle([&] { m->copy(&there, after.on(1), sizeof there); });
  CHECK(there == 1);
  CHECK(read(*m, after, 0)[0] == 0);
  CHECK_NOTHROW(earlier.synchronize());
  check_usable(*m);
}

TEST_CASE("a machine with a block that loops can be destroyed, and another one made") {
  if (!on_gpus()) return;
  {
    auto m = test_machine(2);
    if (!m) return;
    auto signals = zeroed<signal>(*m, 1);
    auto after = zeroed<int>(*m, 1);
    CHECK_THROWS_AS(m->run(1, spin_or_wait{signals.data(), after.data()}, {.deadline = 0.1}), stall_error);
  }
  auto m = test_machine(2);
  REQUIRE(m);
  check_usable(*m);
}

TEST_CASE("of two programs one loops: the other's stall is told") {
  if (!on_gpus()) return;
  auto m = test_machine(2);
  if (!m) return;
  auto signals = zeroed<signal>(*m, 1);
  auto after = zeroed<int>(*m, 1);
  const sym<signal> s = signals.data();
  role_plan loops;
  loops.add("loops", 1);
  role_plan waits;
  waits.add("waits", 1);
  auto never = STARLING_KERNEL(block & b) { b.wait(s, 2, 0); };
  auto spin = STARLING_KERNEL(block & b) {
    b.sync();
    const std::uint64_t start = target::now_ns();
    while (target::now_ns() - start < spin_ns) {
    }
  };
  const auto e = stall_of(
      [&] { m->run({program{loops, make_kernel(spin), {}}, program{waits, make_kernel(never), {.deadline = 0.2}}}); });
  REQUIRE(e);
  check_parts(e->what(), {"(waits)", ">= 2 wanted"});
  int there = 7;
  until_idle([&] { m->copy(&there, after.on(1), sizeof there); });
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::stall_busy_tests
