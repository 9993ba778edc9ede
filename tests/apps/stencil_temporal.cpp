// Stencils whose cells are in memory, several steps a pass: strips and segments of all sizes, ghost zones of all PEs,
// Dirichlet rows and columns.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "stencil/plan/temporal_choice.hpp"
#include "stencil/temporal/temporal_kernels.hpp"
#include "support/failure.hpp"
#include "support/stencil_runs.hpp"

namespace starling::stencil {
namespace {

// Extents that are enough for the depth on every PE, with about so many cells more along an axis.
template <class T>
problem<T> flat_problem(int n_pes, int depth, int more, std::mt19937& draw) {
  problem<T> p;
  do p = test::random_problem<T>(n_pes, draw);
  while (p.shape.size() != 2);
  for (std::size_t a = 0; a < 2; ++a)
    p.shape[a] = p.parts[a] * depth + std::uniform_int_distribution<int>(0, more)(draw);
  if (draw() % 3 == 0) p.coefficients = heat_coefficients<T>(2, 0.2);
  return p;
}

template <class T>
std::optional<temporal_choice> passes(const geometry& g, const tile_limits& limits, const run_options& o) {
  const cell_plan plan = plan_cells<T>(g, limits, o);
  const auto* passes = std::get_if<temporal_choice>(&plan);
  return passes == nullptr ? std::nullopt : std::optional(*passes);
}

// So little on chip that no tile fits there.
constexpr std::size_t nothing_on_chip = 16;

template <class T>
void compare_passes(unsigned seed, int rounds, int more) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  test::machines all;
  for (int round = 0; round < rounds; ++round) {
    const int n_pes = 1 + round % 4;
    run_options o{.how = variant::temporal, .steps = between(1, 30), .blocks = between(1, 6)};
    o.depth = between(2, 8);
    o.threads = 32 * between(1, 8);
    o.shared_bytes = nothing_on_chip;
    const problem<T> p = flat_problem<T>(n_pes, o.depth, more, draw);
    INFO("seed ", seed, " round ", round);
    const geometry g = geometry_of(p, n_pes);
    CHECK(passes<T>(g, {machine_kind::host, 64, 100'000}, o));
    CHECK(passes<T>(g, {machine_kind::cuda, 64, 100'000}, o));
    test::compare(all.of(n_pes), p, o, draw);
  }
}

TEST_CASE("passes of several steps, float") { compare_passes<float>(81, 200, 25); }
TEST_CASE("passes of several steps, double") { compare_passes<double>(82, 200, 25); }
TEST_CASE("passes of several steps, several strips, float") { compare_passes<float>(83, 60, 400); }
TEST_CASE("passes of several steps, several strips, double") { compare_passes<double>(84, 60, 400); }

TEST_CASE("runs that end early, and go on") {
  std::mt19937 draw(86);
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  problem<double> p;
  p.shape = {40, 70};
  p.coefficients = heat_coefficients<double>(2, 0.2);
  std::vector<double> u = test::random_cells(p, draw);
  solver<double> s(*m, p);
  s.load(u.data());
  run_options o{.how = variant::temporal, .steps = 1000, .check_every = 5, .tolerance = 1e-2};
  o.shared_bytes = nothing_on_chip;
  const run_result first = s.advance(o);
  CHECK(first.converged);
  CHECK(first.depth == 5);
  CHECK(first.steps % 5 == 0);
  CHECK(first.steps < 1000);
  CHECK(reference(p, u, first.steps) == first.change);
  // Without computing nothing changes, and another variant goes on from there.
  o = {.how = variant::temporal, .steps = 20, .compute = false};
  o.shared_bytes = nothing_on_chip;
  CHECK(s.advance(o).steps == 20);
  s.advance({.how = variant::cpu_free, .steps = 3});
  reference(p, u, 3);
  std::vector<double> got(u.size());
  s.store(got.data());
  CHECK(got == u);
}

TEST_CASE("every cell is one item's, and there is an item for every warp at most") {
  std::mt19937 draw(85);
  for (int round = 0; round < 200; ++round) {
    const int n_pes = 1 + round % 4;
    const run_options o{.how = variant::temporal, .blocks = 1 + round % 9, .shared_bytes = nothing_on_chip};
    const geometry g = geometry_of(flat_problem<float>(n_pes, 8, 1500, draw), n_pes);
    const std::optional<temporal_choice> c = passes<float>(g, {machine_kind::cuda, 132, 200'000}, o);
    REQUIRE(c);
    const strip_layout& m = c->layout;
    CHECK(m.margin >= m.depth);
    for (int pe = 0; pe < n_pes; ++pe) {
      const box own = box_of(g, pe);
      const int warps = c->blocks * c->threads / 32;
      int items = 0;
      for (int strip = 0; strip < m.strips(own); ++strip) items += m.segments_of(own, strip);
      CHECK((items <= warps || m.segments == 1));  // more strips than warps: in turn
      CHECK(m.first_column(m.strips(own)) + m.margin >= own.extent[2]);
      CHECK(m.at(own.extent[1] - 1, m.first_column(m.strips(own)) + 2 * m.margin) <= m.elements);
    }
  }
}

TEST_CASE("passes where tiles do not fit, and nowhere else") {
  const auto planned = [](std::vector<index_t> shape, run_options o) {
    problem<float> p;
    p.coefficients = jacobi_coefficients<float>(static_cast<int>(shape.size()));
    p.shape = std::move(shape);
    return passes<float>(geometry_of(p, 4), {machine_kind::cuda, 132, 230'000}, o);
  };
  const std::optional<temporal_choice> large = planned({8192, 8192}, {.how = variant::temporal});
  REQUIRE(large);
  CHECK(large->layout.depth == temporal_most_depth);
  CHECK(planned({8192, 8192}, {.how = variant::temporal, .check_every = 5})->layout.depth == 5);
  CHECK(planned({8192, 8192}, {.how = variant::temporal, .check_every = 5, .depth = 7})->layout.depth == 7);
  CHECK_FALSE(planned({8192, 8192}, {.how = variant::temporal, .check_every = 1}));
  CHECK_FALSE(planned({2048, 2048}, {.how = variant::temporal}));
  CHECK_FALSE(planned({8192, 8192}, {.how = variant::resident}));
  const std::string refusal = test::failure_of<argument_error>(
      [&] { (void)planned({8192, 8192}, {.how = variant::temporal, .threads = 512}); });
  CHECK(refusal.find("threads = 512; passes of several steps have at most 384") != std::string::npos);
  CHECK_FALSE(planned({8192, 8192}, {.how = variant::temporal, .depth = 1}));
  CHECK_FALSE(planned({512, 512, 512}, {.how = variant::temporal}));
  const std::optional<temporal_choice> thin = planned({12, 1 << 26}, {.how = variant::temporal});
  REQUIRE(thin);
  CHECK(thin->layout.depth == 3);
}

}  // namespace
}  // namespace starling::stencil
