// Stencil runs for tests: random problems, and comparison of a run with the sequential reference, bit for bit.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "stencil/reference.hpp"
#include "stencil/solver.hpp"
#include "support/test_machine.hpp"

namespace starling::test {

template <class T>
std::vector<T> random_cells(const stencil::problem<T>& p, std::mt19937& draw) {
  std::size_t n = 1;
  for (const index_t extent : p.shape) n *= static_cast<std::size_t>(extent);
  std::uniform_real_distribution<T> value(-1, 1);
  std::vector<T> u(n);
  for (T& x : u) x = value(draw);
  return u;
}

template <class T>
stencil::problem<T> random_problem(int n_pes, std::mt19937& draw) {
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  const int dimensions = between(2, 3);
  stencil::problem<T> p;
  p.parts.assign(static_cast<std::size_t>(dimensions), 1);
  const auto first = static_cast<std::size_t>(between(0, dimensions - 1));
  if (n_pes == 4 && between(0, 1) == 1)
    p.parts[first] = p.parts[(first + 1) % p.parts.size()] = 2;
  else
    p.parts[first] = n_pes;
  for (const int parts : p.parts) {
    p.shape.push_back(between(parts, between(parts, 23)));  // often as thin as can be
    p.edges.push_back(between(0, 1) == 0 ? stencil::edge::fixed : stencil::edge::periodic);
  }
  std::uniform_real_distribution<T> value(-1, 1);
  for (int i = 0; i < 2 * dimensions + 1; ++i) p.coefficients.push_back(value(draw));
  return p;
}

// Sizes up to which edges travel as packets: what the machine chooses, none, all.
inline constexpr index_t packet_limits[] = {-1, 0, index_t{1} << 30};
inline index_t random_packet_limit(std::mt19937& draw) { return packet_limits[draw() % 3]; }

template <class T>
std::string describe(const stencil::problem<T>& p, const stencil::run_options& o) {
  std::ostringstream out;
  out << stencil::name(o.how) << " shape";
  for (const index_t n : p.shape) out << ' ' << n;
  out << " parts";
  for (const int n : p.parts) out << ' ' << n;
  out << " periodic";
  for (const stencil::edge e : p.edges) out << ' ' << (e == stencil::edge::periodic);
  out << " steps " << o.steps << " blocks " << o.blocks << " boundary blocks " << o.boundary_blocks << " packet bytes "
      << o.packet_bytes << " depth " << o.depth << " on chip " << o.shared_bytes;
  return out.str();
}

// Machines of 1 to 4 PEs, made when they are first needed.
class machines {
 public:
  std::optional<machine>& of(int n_pes) {
    auto& m = machines_[static_cast<std::size_t>(n_pes)];
    if (!m) m = test::test_machine(n_pes);
    return m;
  }

 private:
  std::optional<machine> machines_[5];
};

// Gives what the run said; of no machine, what was asked for.
template <class T>
stencil::run_result compare(std::optional<machine>& m, const stencil::problem<T>& p, stencil::run_options o,
                            std::mt19937& draw) {
  stencil::run_result r;
  r.how = o.how;
  if (!m) return r;
  const std::vector<T> u = random_cells(p, draw);
  std::vector<T> expected = u;
  const double change = stencil::reference(p, expected, o.steps);
  stencil::solver<T> s(*m, p);
  s.load(u.data());
  o.check_every = o.steps;
  r = s.advance(o);
  std::vector<T> got(u.size(), std::numeric_limits<T>::quiet_NaN());
  s.store(got.data());
  INFO(describe(p, o));
  CHECK(std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) == 0);
  CHECK(r.steps == o.steps);
  CHECK(r.change == change);
  return r;
}

}  // namespace starling::test
