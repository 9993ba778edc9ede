// Check mode with a clock: what programs take, against what their costs add up to.
#include <limits>
#include <string>

#include "support/checked.hpp"

namespace starling::test::clock_kernels_tests {
namespace {

// Numbers whose sums tell who is in them.
constexpr simulation_costs costs = {
    .own = {.packet = 10, .signal = 30},
    .host = {.packet = 100, .signal = 300, .message = 0, .rate = 4},
    .between = {.packet = 5000, .signal = 7000, .message = 11, .rate = 2},
    .pes_per_host = 2,
    .call = 1,
    .memory_rate = 1e9,
};

machine timed_machine(int n_pes, const simulation_costs& c = costs) {
  return machine::host(n_pes, {.memory_bytes = std::size_t{1} << 22}).check({.clock = c});
}

// What a kernel takes by the clock.
template <class Kernel>
double time_of(machine& m, int blocks, const Kernel& k) {
  const double before = m.checked().simulated_ns;
  m.run(blocks, k);
  return m.checked().simulated_ns - before;
}

TEST_CASE("a ping-pong takes its flights and its calls") {
  machine m = timed_machine(4);
  constexpr std::uint64_t rounds = 5;
  const auto between = [&](int other) {
    const auto words = zeroed<signal>(m, 1);
    const sym<signal> s = words.data();
    return time_of(
        m, 1, STARLING_KERNEL(block & b) {
          if (b.pe() != 0 && b.pe() != other) return;
          for (std::uint64_t i = 1; i <= rounds; ++i) {
            if (b.pe() == 0) b.signal_set(s, i, other);
            b.wait(s, i, b.pe() == 0 ? other : 0);
            if (b.pe() == other) b.signal_set(s, i, 0);
          }
        });
  };
  // A wait's own call is over before what it waits for is there.
  const double host = 2 * rounds * (costs.host.signal + costs.call);
  CHECK(between(1) >= host);
  CHECK(between(1) <= host + 2 * costs.call);
  const double apart = 2 * rounds * (costs.between.signal + costs.between.message + costs.call);
  CHECK(between(2) >= apart);
  CHECK(between(2) <= apart + 2 * costs.call);
}

TEST_CASE("a put takes its bytes, and the next one waits for the link") {
  machine m = timed_machine(2);
  const auto cells = zeroed<double>(m, 3000);
  const sym<double> x = cells.data();
  const auto puts = [&](std::uint64_t n) {
    const auto words = zeroed<signal>(m, 1);
    const sym<signal> s = words.data();
    return time_of(
        m, 1, STARLING_KERNEL(block & b) {
          for (std::uint64_t i = 1; b.pe() == 0 && i <= n; ++i)
            b.put_signal(x + static_cast<index_t>(1000 * (i - 1)), static_cast<const double*>(x.on(0)), 1000, s, i, 1);
          if (b.pe() == 1) b.wait(s, n, 0);
        });
  };
  const double one = 8000 / costs.host.rate;
  CHECK(puts(1) == doctest::Approx(one + costs.host.signal + costs.call));
  CHECK(puts(3) == doctest::Approx(3 * one + costs.host.signal + 3 * costs.call));
}

TEST_CASE("what a block loads and stores takes the memory's time") {
  simulation_costs slow = costs;
  slow.memory_rate = 0.5;
  machine m = timed_machine(1, slow);
  const auto cells = zeroed<double>(m, 512);
  const sym<double> x = cells.data();
  const double time = time_of(
      m, 1, STARLING_KERNEL(block & b) {
        double* own = x.on(b.pe());
        for (int again = 0; again < 3; ++again)  // bytes count once between two calls
          b.for_each(512, [&](index_t i) { own[i] = own[i] + 1; });
      });
  CHECK(time == doctest::Approx(512 * 8 / 0.5).epsilon(0.01));
}

TEST_CASE("the time of an all-reduce: a flight, and the senders one after another") {
  simulation_costs c = costs;
  c.pes_per_host = 0;
  c.meeting = 50;
  c.next_sender = 20;
  for (const int n : {2, 5, 8}) {
    machine m = timed_machine(n, c);
    const auto sums = m.allocate<double>(1);
    const sym<double> out = sums.data();
    const double time = time_of(
        m, 1, STARLING_KERNEL(block & b) {
          const double sum = b.all_reduce(1.0, plus{});
          if (b.member() == 0) *out.on(b.pe()) = sum;
        });
    double sum = 0;
    m.copy(&sum, out.on(0), sizeof sum);
    CHECK(sum == n);
    CHECK(time >= c.meeting + c.host.packet);
    CHECK(time <= c.meeting + c.host.packet + n * (c.next_sender + 16 / c.host.rate) + 1);
  }
}

TEST_CASE("the same costs give the same time, and defects are found as ever") {
  const auto run = [] {
    machine m = timed_machine(4);
    return time_of(
        m, 2, STARLING_KERNEL(block & b) {
          for (int i = 0; i < 4; ++i) b.sync_all();
        });
  };
  CHECK(run() == run());
  machine m = timed_machine(2);
  const auto words = zeroed<signal>(m, 1);
  const sym<signal> s = words.data();
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.wait(s, 1, 1 - b.pe()); }, defect::deadlock, {"wait-for cycle"});
}

TEST_CASE("costs that stop the time are refused") {
  const machine m = machine::host(2, {.memory_bytes = std::size_t{1} << 22});
  const auto refused = [&](auto change, const std::string& part) {
    simulation_costs c = costs;
    change(c);
    check_parts(failure_of<argument_error>([&] { (void)m.check({.clock = c}); }), {part});
  };
  refused([](simulation_costs& c) { c.call = 0; }, "clock.call = 0");
  refused([](simulation_costs& c) { c.memory_rate = 0; }, "clock.memory_rate = 0");
  refused([](simulation_costs& c) { c.host.rate = -1; }, "clock.host.rate = -1");
  refused([](simulation_costs& c) { c.own.packet = std::numeric_limits<double>::quiet_NaN(); }, "none may be below 0");
  refused([](simulation_costs& c) { c.pes_per_host = -8; }, "pes_per_host = -8");
}

}  // namespace
}  // namespace starling::test::clock_kernels_tests
