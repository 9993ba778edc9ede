#include "processes/programs.hpp"

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace starling::test {

std::vector<double> ring_values(machine& m, int steps) {
  auto values = m.allocate<double>(2);
  auto inbox = m.allocate<double>(2);
  auto arrived = m.allocate<signal>(1);
  const sym<double> x = values.data();
  const sym<double> in = inbox.data();
  const sym<signal> here = arrived.data();
  auto k = STARLING_KERNEL(block & b) {
    const int next = (b.pe() + 1) % b.n_pes();
    const int before = (b.pe() + b.n_pes() - 1) % b.n_pes();
    double mine = 1.0 / (3 + b.pe());
    for (int s = 1; s <= steps; ++s) {
      const double sum = b.all_reduce(mine, plus{});
      b.put_signal(in + s % 2, &sum, 1, here, s, next);
      b.wait(here, s, before);
      mine = in.on(b.pe())[s % 2] / (b.pe() + 1.5) + mine / 7;
      if (b.member() == 0) x.on(b.pe())[0] = sum;
    }
    if (b.member() == 0) x.on(b.pe())[1] = mine;
  };
  m.run(1, k);
  std::vector<double> all(2 * static_cast<std::size_t>(m.size()));
  for (int pe = 0; pe < m.size(); ++pe)
    m.copy(&all[2 * static_cast<std::size_t>(pe)], values.on(pe), 2 * sizeof(double));
  return all;
}

std::string ring_bits(machine& m, int steps) {
  std::ostringstream text;
  for (const double v : ring_values(m, steps)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    text << std::hex << bits << " ";
  }
  return text.str();
}

void wait_in_ring(machine& m) {
  auto never = m.allocate<signal>(1);
  const sym<signal> s = never.data();
  auto k = STARLING_KERNEL(block & b) { b.wait(s, 1, (b.pe() + 1) % b.n_pes()); };
  m.run(1, k);
}

void wait_for_sleeper(machine& m, double seconds) {
  auto done = m.allocate<signal>(1);
  const sym<signal> s = done.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) {
      b.wait(s, 1, 1);
      return;
    }
    if (b.pe() > 1) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    b.signal_set(s, 1, 0);
  };
  m.run(1, k);
}

void throw_on(machine& m, int pe) {
  auto never = m.allocate<signal>(1);
  const sym<signal> s = never.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == pe) throw std::runtime_error("the kernel has had enough");
    b.wait(s, 1, pe);
  };
  m.run(1, k);
}

void wait_for_data(machine& m) {
  auto words = m.allocate<std::uint64_t>(1);
  const auto own = m.local_pes();
  for (auto pe = own.begin; pe < own.end; ++pe) m.fill(words.on(static_cast<int>(pe)), 0, sizeof(std::uint64_t));
  const sym<std::uint64_t> w = words.data();
  auto k = STARLING_KERNEL(block & b) {
    const std::uint64_t value = 77;
    if (b.pe() == 0)
      for (int pe = 1; pe < b.n_pes(); ++pe) b.put(w, &value, 1, pe);
    else
      b.wait_until(w, compare::eq, 77, 0);
  };
  m.run(1, k);
}

}  // namespace starling::test
