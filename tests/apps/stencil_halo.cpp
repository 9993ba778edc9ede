// How the blocks of a PE share its faces: which blocks, in what pieces, and how they travel.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "stencil/halo/face_chunks.hpp"
#include "stencil/plan/launch_shape.hpp"
#include "support/stencil_runs.hpp"

namespace starling::stencil {
namespace {

using test::compare;
using test::machines;
using test::random_problem;

constexpr variant programs[] = {variant::cpu_free, variant::graph};

template <class T>
void compare_random(unsigned seed, int rounds) {
  std::mt19937 draw(seed);
  machines all;
  for (int round = 0; round < rounds; ++round) {
    const int n_pes = 1 + round % 4;
    problem<T> p = random_problem<T>(n_pes, draw);
    // Rows that are whole strips, on half of the domains.
    if (draw() % 2 == 0) p.shape.back() = p.parts.back() * 4 * std::uniform_int_distribution<int>(1, 9)(draw);
    run_options o;
    o.how = programs[draw() % 2];
    o.steps = std::uniform_int_distribution<int>(1, 8)(draw);
    o.blocks = std::uniform_int_distribution<int>(1, 9)(draw);
    o.boundary_blocks = std::uniform_int_distribution<int>(-1, o.blocks - 1)(draw);
    o.packet_bytes = test::random_packet_limit(draw);
    INFO("seed ", seed, " round ", round);
    compare(all.of(n_pes), p, o, draw);
  }
}

TEST_CASE("random domains, blocks that do the boundary, and ways to send them: float") {
  compare_random<float>(31, 200);
}
TEST_CASE("random domains, blocks that do the boundary, and ways to send them: double") {
  compare_random<double>(32, 200);
}

template <class T>
problem<T> plane(index_t rows, index_t columns, edge e) {
  problem<T> p;
  p.shape = {rows, columns};
  p.coefficients = heat_coefficients<T>(2, 0.2);
  p.edges = {e, edge::fixed};
  return p;
}

TEST_CASE("faces of fewer cells than there are blocks") {
  std::mt19937 draw(33);
  machines all;
  for (const index_t columns : {1, 2, 3, 4, 5, 8})
    for (const int boundary_blocks : {0, 1, 7, 15})
      for (const variant how : programs)
        compare(all.of(2), plane<float>(6, columns, edge::periodic),
                {.how = how,
                 .steps = 5,
                 .blocks = 16,
                 .boundary_blocks = boundary_blocks,
                 .packet_bytes = test::random_packet_limit(draw)},
                draw);
}

TEST_CASE("pieces that end at, before and behind a strip's end") {
  std::mt19937 draw(34);
  machines all;
  for (index_t columns = 28; columns <= 36; ++columns)
    for (int blocks = 2; blocks <= 6; ++blocks)
      for (const index_t packets : test::packet_limits) {
        compare(all.of(3), plane<float>(9, columns, edge::fixed),
                {.how = variant::cpu_free, .steps = 4, .blocks = blocks, .boundary_blocks = 0, .packet_bytes = packets},
                draw);
        compare(all.of(3), plane<double>(3, columns, edge::periodic),
                {.how = variant::cpu_free, .steps = 4, .blocks = blocks, .boundary_blocks = 0, .packet_bytes = packets},
                draw);
      }
}

geometry box_domain(index_t z, index_t y, index_t x, int parts) {
  problem<float> p;
  if (z > 1) p.shape.push_back(z);
  p.shape.push_back(y);
  p.shape.push_back(x);
  p.coefficients = jacobi_coefficients<float>(static_cast<int>(p.shape.size()));
  return geometry_of(p, parts);
}

launch_shape shape_on_gpu(const geometry& g, run_options o = {.how = variant::cpu_free}) {
  return choose_launch<float>(g, machine_kind::cuda, o,
                              [](int threads, bool in_turn) { return 132 * (in_turn ? 3 : 512 / threads); });
}

TEST_CASE("no more blocks are chosen than a PE is to have, and more may be asked for") {
  const auto fits = [](int, bool) { return 66; };
  const geometry g = box_domain(1, 1024, 1024, 4);
  const run_options chosen{.how = variant::cpu_free};
  CHECK(choose_launch<float>(g, machine_kind::cuda, chosen, fits).blocks > 33);
  CHECK(choose_launch<float>(g, machine_kind::cuda, chosen, fits, 33).blocks == 33);
  run_options asked = chosen;
  asked.blocks = 66;
  CHECK(choose_launch<float>(g, machine_kind::cuda, asked, fits, 33).blocks == 66);
}

TEST_CASE("blocks of their own do the boundary, but where a large interior needs all blocks") {
  for (const int parts : {2, 4}) {
    CAPTURE(parts);
    CHECK(shape_on_gpu(box_domain(512, 512, 512, parts)).boundary_blocks == 0);
    CHECK(shape_on_gpu(box_domain(256, 256, 256, parts)).boundary_blocks > 0);
    // A block that does the boundary takes the fewer pieces.
    CHECK(shape_on_gpu(box_domain(1, 16384, 16384, parts)).boundary_blocks == 0);
    CHECK(shape_on_gpu(box_domain(1, 2048, 2048, parts)).boundary_blocks > 0);
    CHECK(shape_on_gpu(box_domain(1, 256, 256, parts)).boundary_blocks > 0);
  }
  CHECK(shape_on_gpu(box_domain(512, 512, 512, 1)).boundary_blocks == 0);
}

TEST_CASE("a face is cut for all blocks that do the boundary, and no block has more chunks than faces") {
  for (const int boundary_blocks : {-1, 0, 1, 2, 3, 16, 60})
    for (const int blocks : {61, 132, 264}) {
      const geometry g = box_domain(512, 512, 512, 4);
      const launch_shape s = shape_on_gpu(
          g, {.how = variant::cpu_free, .blocks = blocks, .threads = 256, .boundary_blocks = boundary_blocks});
      CAPTURE(boundary_blocks);
      CAPTURE(blocks);
      CHECK(s.chunks == std::max(s.blocks_of_boundary() / 2, 1));
      CHECK(chunks_per_block(g, s) == (s.blocks_of_boundary() == 1 ? 2 : 1));
      cpu_free_arguments<float> a;
      a.f.shape = g;
      cut_faces(a, s);
      CHECK(a.chunk_cells[0] % 4 == 0);
      CHECK(a.chunk_cells[0] * s.chunks >= g.face_cells(0));
      CHECK(a.in_rows);
      CHECK_FALSE(a.faces_meet);
    }
}

TEST_CASE("strips are vectors only where rows are whole strips and no faces meet") {
  const auto in_rows = [](const geometry& g, bool packets) {
    cpu_free_arguments<float> a;
    a.f.shape = g;
    a.packets = packets;
    cut_faces(a, {});
    return a.in_rows;
  };
  CHECK(in_rows(box_domain(1, 64, 64, 4), true));
  CHECK(in_rows(box_domain(1, 64, 66, 4), true));
  CHECK_FALSE(in_rows(box_domain(1, 64, 66, 4), false));
  CHECK_FALSE(in_rows(box_domain(1, 64, 65, 4), true));
  CHECK_FALSE(in_rows(box_domain(1, 4, 64, 4), true));  // one layer is both sides' face
  geometry columns = box_domain(1, 64, 64, 2);
  std::swap(columns.parts[1], columns.parts[2]);
  CHECK_FALSE(in_rows(columns, true));
}

}  // namespace
}  // namespace starling::stencil
