// Stencils whose blocks keep their tiles: depths, domains whose tiles do not fit on chip, tiles of all shapes.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "starling/base/error.hpp"
#include "stencil/plan/tile_choice.hpp"
#include "support/stencil_runs.hpp"

namespace starling::stencil {
namespace {

// Extents that are enough for the depth on every PE.
template <class T>
problem<T> deep_problem(int n_pes, int depth, std::mt19937& draw) {
  problem<T> p = test::random_problem<T>(n_pes, draw);
  for (std::size_t a = 0; a < p.shape.size(); ++a)
    p.shape[a] = p.parts[a] * depth + std::uniform_int_distribution<int>(0, 25)(draw);
  return p;
}

template <class T>
void compare_deep(unsigned seed, int rounds) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  test::machines all;
  int plain = 0;
  for (int round = 0; round < rounds; ++round) {
    const int n_pes = 1 + round % 4;
    run_options o{.how = variant::resident, .steps = between(1, 17), .blocks = between(1, 12)};
    o.depth = between(1, 5);
    if (o.depth > 1) o.how = variant::temporal;
    const problem<T> p = deep_problem<T>(n_pes, o.depth, draw);
    o.packet_bytes = test::random_packet_limit(draw);
    if (between(0, 3) == 1) o.shared_bytes = static_cast<std::size_t>(between(700, 3000));
    INFO("seed ", seed, " round ", round);
    const run_result r = test::compare(all.of(n_pes), p, o, draw);
    if (r.how == o.how) continue;
    ++plain;
    CHECK(r.how == variant::cpu_free);
    CHECK(r.depth == 1);
    CHECK(r.why.find("the steps of cpu_free: no tiles of " + std::string(name(o.how)) + " fit on chip") == 0);
  }
  CHECK(plain > rounds / 40);
  CHECK(plain < rounds / 4);
}

TEST_CASE("depths, blocks and tiles that do not fit, float") { compare_deep<float>(31, 200); }
TEST_CASE("depths, blocks and tiles that do not fit, double") { compare_deep<double>(32, 200); }

// On GPUs: in two dimensions bands or two arrays, in three two arrays or one.
template <class T>
void compare_larger(unsigned seed) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  test::machines all;
  int kept = 0;
  for (int round = 0; round < 24; ++round) {
    const int n_pes = 1 + round % 4;
    run_options o{.how = variant::resident, .steps = between(2, 12), .blocks = 4};
    o.depth = round / 12 == 0 ? 1 : between(2, 4);
    if (o.depth > 1) o.how = variant::temporal;
    problem<T> p = test::random_problem<T>(n_pes, draw);
    for (std::size_t a = 0; a < p.shape.size(); ++a)
      p.shape[a] = p.shape.size() == 2 ? between(150, 330) : between(30, 50);
    const double tile_bytes = [&] {
      double bytes = sizeof(T);
      for (const index_t n : p.shape) bytes *= static_cast<double>(n);
      return bytes / n_pes / 4;
    }();
    o.shared_bytes = static_cast<std::size_t>(tile_bytes * (round % 2 == 0 ? 4 : 2.2)) + 30000;
    INFO("seed ", seed, " round ", round);
    kept += test::compare(all.of(n_pes), p, o, draw).how == o.how ? 1 : 0;
  }
  if (!test::on_gpus() || kept > 0) CHECK(kept > 12);
}

TEST_CASE("larger tiles, float") { compare_larger<float>(35); }
TEST_CASE("larger tiles, double") { compare_larger<double>(36); }

// On GPUs: spilling register tiles, some with rows in memory. On virtual devices the same domains in two arrays, or
// plain steps.
template <class T>
void compare_spilling(unsigned seed) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  test::machines all;
  constexpr int lanes = 32;
  const int widest = lanes * 16 / static_cast<int>(sizeof(T));
  int streamed = 0;
  constexpr int rounds = 16;
  for (int round = 0; round < rounds;) {
    const int n_pes = 1 + round % 4;
    problem<T> p;
    p.parts = {1, 1};
    p.parts[static_cast<std::size_t>(between(0, 1))] = n_pes;
    p.shape = {p.parts[0] * between(280, 700), p.parts[1] * between(widest / 2, 3 * widest)};
    for (int a = 0; a < 2; ++a) p.edges.push_back(between(0, 1) == 0 ? edge::fixed : edge::periodic);
    p.coefficients = jacobi_coefficients<T>(2);
    if (between(0, 1) == 0) p.coefficients = {T(0.5), T(0.1), T(0.15), T(0.2), T(0.05)};
    run_options o{.how = variant::resident, .steps = between(2, 9), .blocks = between(1, 4)};
    o.shared_bytes = static_cast<std::size_t>(between(60, 220)) * 1000;
    const std::optional<tile_choice> c = choose_tiles<T>(geometry_of(p, n_pes), {machine_kind::cuda, 64, 230'000}, o);
    if (!c || !c->grid.spilling.used()) continue;
    streamed += c->grid.memory_elements > 0 ? 1 : 0;
    INFO("seed ", seed, " round ", round);
    // Draws of its own: which tiles there are does not depend on the machine.
    std::mt19937 cells(seed + static_cast<unsigned>(round));
    test::compare(all.of(n_pes), p, o, cells);
    ++round;
  }
  CHECK(streamed > rounds / 8);
  CHECK(streamed < rounds - rounds / 8);
}

TEST_CASE("spilling register tiles in programs, float") { compare_spilling<float>(37); }
TEST_CASE("spilling register tiles in programs, double") { compare_spilling<double>(38); }

TEST_CASE("tiles deal out a box, and neighbours are mutual") {
  std::mt19937 draw(33);
  for (int round = 0; round < 100; ++round) {
    const int n_pes = 1 + round % 4;
    run_options o{.how = variant::temporal, .blocks = 1 + round % 13};
    o.depth = 1 + round % 3;
    const geometry g = geometry_of(deep_problem<float>(n_pes, o.depth, draw), n_pes);
    const tiling t = choose_tiles<float>(g, {machine_kind::cuda, 132, 200'000}, o)->grid;
    CHECK(t.blocks() <= o.blocks);
    for (int pe = 0; pe < n_pes; ++pe) {
      const box own = box_of(g, pe);
      std::set<index_t> seen;
      for (int block = 0; block < t.blocks(); ++block) {
        const tile mine = tile_of(g, t, own, block);
        for (int z = 0; z < mine.extent[0]; ++z)
          for (int y = 0; y < mine.extent[1]; ++y)
            for (int x = 0; x < mine.extent[2]; ++x) {
              const index_t at[3] = {mine.first[0] + z, mine.first[1] + y, mine.first[2] + x};
              CHECK(seen.insert((at[0] * own.extent[1] + at[1]) * own.extent[2] + at[2]).second);
              const bool dirichlet = !own.is_updated({{at[0], at[1], at[2]}});
              bool updated = true;
              const int here[3] = {z, y, x};
              for (int a = 0; a < 3; ++a)
                updated = updated && here[a] >= mine.updated_begin[a] && here[a] < mine.updated_end[a];
              CHECK(updated == !dirichlet);
            }
        for (int d = 0; d < directions; ++d) {
          const tile_place to = beside(g, t, pe, block, direction(d));
          if (to.pe == no_neighbour || d == opposite_direction(d)) continue;
          const tile_place back = beside(g, t, to.pe, to.block, direction(opposite_direction(d)));
          CHECK(back.pe == pe);
          CHECK(back.block == block);
          const tile other = tile_of(g, t, box_of(g, to.pe), to.block);
          for (int a = 0; a < 3; ++a)
            if (direction(d).step[a] == 0) CHECK(other.extent[a] == mine.extent[a]);
        }
      }
      CHECK(static_cast<index_t>(seen.size()) == own.extent[0] * own.extent[1] * own.extent[2]);
    }
  }
}

std::optional<tile_choice> chosen(std::vector<index_t> shape, const run_options& o) {
  problem<float> p;
  p.coefficients = jacobi_coefficients<float>(static_cast<int>(shape.size()));
  p.shape = std::move(shape);
  return choose_tiles<float>(geometry_of(p, 4), {machine_kind::cuda, 132, 230'000}, o);
}

TEST_CASE("a chosen depth pays where exchanges do, and is 1 where cells do not fit on chip") {
  CHECK(chosen({256, 256}, {.how = variant::temporal})->grid.depth > 1);
  const std::optional<tile_choice> large = chosen({16384, 16384}, {.how = variant::temporal});
  REQUIRE(large);
  CHECK(large->grid.depth == 1);
  CHECK(large->grid.memory_elements > 0);
}

TEST_CASE(
    "cells on shared: in registers, in two arrays, in one; in spilling register tiles in memory too, and otherwise "
    "nowhere") {
  const run_options o{.how = variant::resident};
  const tile_choice flat = *chosen({2048, 2048}, o);
  CHECK(flat.grid.registers.used());
  CHECK(flat.threads >= 32 * flat.grid.registers.count);
  CHECK(flat.threads >= flat.grid.packets_per_block());
  const tile_choice small = *chosen({64, 64, 64}, o);
  CHECK_FALSE(small.grid.single_buffered);
  CHECK_FALSE(small.grid.registers.used());
  const tile_choice solid = *chosen({256, 256, 256}, o);
  CHECK(solid.grid.single_buffered);
  CHECK_FALSE(chosen({512, 512, 512}, o));
  CHECK_FALSE(chosen({4096, 65536}, o));
  const tile_choice fits = *chosen({8192, 4096}, o);
  const tile_choice large = *chosen({8192, 8192}, o);
  const tile_choice huge = *chosen({16384, 16384}, o);
  for (const tile_choice& c : {fits, large, huge}) {
    CHECK(c.grid.spilling.used());
    CHECK(c.grid.spilling.count >= fewest_spilling_bands);
    CHECK_FALSE(c.grid.registers.used());
    CHECK(c.threads == 32 * c.grid.spilling.count);
  }
  CHECK(fits.grid.memory_elements == 0);
  CHECK(large.grid.memory_elements > 0);
  for (const tile_choice& c : {solid, fits, large, huge}) {
    CHECK(c.grid.blocks() >= 120);
    CHECK(c.threads <= 512);
    CHECK(c.scratch_bytes <= 230'000);
  }
}

TEST_CASE("runs go on with other tiles, depths and variants") {
  std::mt19937 draw(34);
  problem<float> p;
  p.shape = {33, 29};
  p.coefficients = {0.5f, 0.1f, 0.15f, 0.2f, 0.05f};
  p.edges = {edge::periodic, edge::fixed};
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  solver<float> s(*m, p);
  const std::vector<float> u = test::random_cells(p, draw);
  std::vector<float> expected = u;
  s.load(u.data());
  index_t total = 0;
  for (int i = 0; i < 12; ++i) {
    run_options o{.steps = 1 + i % 5, .blocks = 1 + i % 7};
    o.how = i % 4 == 3 ? variant::cpu_free : variant::temporal;
    if (o.how == variant::temporal) o.depth = 1 + i % 3;
    o.shared_bytes = i % 2 == 0 ? 0 : 4000;
    o.packet_bytes = test::packet_limits[i / 2 % 3];
    s.advance(o);
    total += o.steps;
  }
  reference(p, expected, total);
  std::vector<float> got(u.size());
  s.store(got.data());
  CHECK(got == expected);
}

}  // namespace
}  // namespace starling::stencil
