// Every variant against the sequential reference, bit for bit.
#include <doctest/doctest.h>

#include <iterator>
#include <optional>
#include <random>
#include <vector>

#include "stencil/reference.hpp"
#include "stencil/solver.hpp"
#include "stencil/step/interior_partition.hpp"
#include "support/stencil_runs.hpp"

namespace starling::stencil {
namespace {

using test::compare;
using test::machines;
using test::random_cells;
using test::random_problem;

constexpr variant variants[] = {variant::copy,     variant::overlap,  variant::p2p,     variant::graph,
                                variant::cpu_free, variant::resident, variant::temporal};
constexpr int n_variants = static_cast<int>(std::size(variants));

template <class T>
void compare_random(unsigned seed, int rounds) {
  std::mt19937 draw(seed);
  machines all;
  for (int round = 0; round < rounds; ++round) {
    const int n_pes = 1 + round % 4;
    const problem<T> p = random_problem<T>(n_pes, draw);
    run_options o;
    o.how = variants[round / 4 % n_variants];
    o.steps = std::uniform_int_distribution<int>(1, 12)(draw);
    o.blocks = std::uniform_int_distribution<int>(0, 6)(draw);
    o.packet_bytes = test::random_packet_limit(draw);
    INFO("seed ", seed, " round ", round);
    compare(all.of(n_pes), p, o, draw);
  }
}

TEST_CASE("random problems, float") { compare_random<float>(11, 200); }
TEST_CASE("random problems, double") { compare_random<double>(12, 200); }

TEST_CASE("every variant, PE count and block count on one odd domain") {
  std::mt19937 draw(13);
  machines all;
  problem<float> p;
  p.shape = {37, 29};
  p.coefficients = {0.1f, 0.2f, 0.3f, 0.15f, 0.25f};
  for (const variant how : variants)
    for (int n_pes = 1; n_pes <= 4; ++n_pes)
      for (int blocks = 1; blocks <= 4; ++blocks)
        for (const index_t packets : test::packet_limits)
          compare(all.of(n_pes), p, {.how = how, .steps = 9, .blocks = blocks, .packet_bytes = packets}, draw);
}

TEST_CASE("one row for each PE") {
  std::mt19937 draw(14);
  machines all;
  for (const variant how : variants)
    for (const edge e : {edge::fixed, edge::periodic}) {
      problem<double> p;
      p.shape = {4, 17};
      p.coefficients = heat_coefficients<double>(2, 0.2);
      p.edges = {e, edge::fixed};
      compare(all.of(4), p, {.how = how, .steps = 20, .blocks = 3}, draw);
    }
}

TEST_CASE("faces of several chunks") {
  std::mt19937 draw(15);
  machines all;
  problem<float> p;
  p.shape = {9, 30, 31};
  p.coefficients = heat_coefficients<float>(3, 0.1);
  p.edges = {edge::periodic, edge::fixed, edge::periodic};
  p.parts = {2, 2, 1};
  compare(all.of(4), p, {.how = variant::cpu_free, .steps = 15, .blocks = 14, .boundary_blocks = 12}, draw);
}

TEST_CASE("on GPUs, planes whose tiles are scheduled dynamically") {
  std::mt19937 draw(16);
  machines all;
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    std::optional<machine>& m = all.of(n_pes);
    if (!m) continue;
    const bool gpu = m->kind() == machine_kind::cuda;
    const index_t grown = gpu ? 64 : 1;
    problem<float> p;
    p.shape = {61 * grown * n_pes + 3, 63 * grown + 1};
    p.coefficients = {0.1f, 0.2f, 0.3f, 0.15f, 0.25f};
    p.edges = {edge::periodic, edge::fixed};
    if (gpu) REQUIRE(scheduled_dynamically<float>(geometry_of(p, n_pes)));
    for (const variant how : {variant::copy, variant::graph, variant::cpu_free})
      compare(m, p, {.how = how, .steps = 3}, draw);
  }
}

TEST_CASE("on GPUs, volumes whose tiles are scheduled dynamically") {
  std::mt19937 draw(18);
  machines all;
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    std::optional<machine>& m = all.of(n_pes);
    if (!m) continue;
    const bool gpu = m->kind() == machine_kind::cuda;
    problem<double> p;
    p.shape = gpu ? std::vector<index_t>{301 * n_pes, 299, 311} : std::vector<index_t>{13 * n_pes, 21, 17};
    p.coefficients = {0.1, 0.2, 0.1, 0.15, 0.25, 0.05, 0.12};
    p.edges = {edge::fixed, edge::periodic, edge::fixed};
    if (gpu) REQUIRE(scheduled_dynamically<double>(geometry_of(p, n_pes)));
    for (const variant how : {variant::graph, variant::cpu_free}) compare(m, p, {.how = how, .steps = 3}, draw);
  }
}

TEST_CASE("runs go on where the last one ended, whatever its variant and blocks") {
  std::mt19937 draw(16);
  problem<double> p;
  p.shape = {12, 13};
  p.coefficients = {0.5, 0.1, 0.15, 0.2, 0.05};
  p.edges = {edge::periodic, edge::periodic};
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  solver<double> s(*m, p);
  const std::vector<double> u = random_cells(p, draw);
  std::vector<double> expected = u;
  s.load(u.data());
  index_t total = 0;
  for (int i = 0; i < 12; ++i) {
    const index_t steps = 1 + i % 3;
    s.advance({.how = variants[i * 7 % n_variants], .steps = steps, .blocks = 1 + i % 5});
    total += steps;
  }
  reference(p, expected, total);
  std::vector<double> got(u.size());
  s.store(got.data());
  CHECK(got == expected);
}

TEST_CASE("a tolerance stops every variant at the same step") {
  problem<float> p;
  p.shape = {16, 16};
  p.coefficients = jacobi_coefficients<float>(2);
  std::mt19937 draw(17);
  const std::vector<float> u = random_cells(p, draw);
  std::vector<index_t> stopped;
  for (const variant how : variants)
    for (int n_pes = 1; n_pes <= 4; ++n_pes) {
      std::optional<machine> m = test::test_machine(n_pes);
      if (!m) continue;
      solver<float> s(*m, p);
      s.load(u.data());
      const run_result r = s.advance({.how = how, .steps = 5000, .check_every = 5, .tolerance = 1e-4});
      CHECK(r.converged);
      CHECK(r.change <= 1e-4);
      CHECK(r.steps % 5 == 0);
      stopped.push_back(r.steps);
    }
  for (const index_t steps : stopped) CHECK(steps == stopped.front());
}

TEST_CASE("without computation cells keep their values") {
  std::mt19937 draw(18);
  problem<float> p;
  p.shape = {10, 11};
  p.coefficients = jacobi_coefficients<float>(2);
  p.edges = {edge::periodic, edge::periodic};
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  for (const variant how : variants) {
    solver<float> s(*m, p);
    const std::vector<float> u = random_cells(p, draw);
    std::vector<float> expected = u;
    s.load(u.data());
    s.advance({.how = how, .steps = 3});
    s.advance({.how = how, .steps = 4, .compute = false});
    s.advance({.how = how, .steps = 2});
    reference(p, expected, 5);
    std::vector<float> got(u.size());
    s.store(got.data());
    CHECK(got == expected);
  }
}

}  // namespace
}  // namespace starling::stencil
