#include <doctest/doctest.h>

#include <set>

#include "stencil/problem.hpp"

namespace starling::stencil {
namespace {

geometry grid(std::vector<index_t> shape, std::vector<int> parts, std::vector<edge> edges = {}) {
  problem<float> p;
  p.shape = std::move(shape);
  p.coefficients = jacobi_coefficients<float>(static_cast<int>(p.shape.size()));
  p.parts = std::move(parts);
  p.edges = std::move(edges);
  int n_pes = 1;
  for (const int n : p.parts) n_pes *= n;
  return geometry_of(p, n_pes);
}

TEST_CASE("boxes tile the domain") {
  for (const auto& g : {grid({7, 5}, {3, 1}), grid({7, 5}, {2, 2}), grid({4, 9, 6}, {2, 1, 3}), grid({1, 1}, {1, 1})}) {
    std::set<index_t> seen;
    for (int pe = 0; pe < g.n_pes(); ++pe) {
      const box b = box_of(g, pe);
      for (index_t z = 0; z < b.extent[0]; ++z)
        for (index_t y = 0; y < b.extent[1]; ++y)
          for (index_t x = 0; x < b.extent[2]; ++x) {
            const index_t at[3] = {b.first[0] + z, b.first[1] + y, b.first[2] + x};
            CHECK(seen.insert((at[0] * g.extent[1] + at[1]) * g.extent[2] + at[2]).second);
          }
    }
    CHECK(static_cast<index_t>(seen.size()) == g.extent[0] * g.extent[1] * g.extent[2]);
  }
}

TEST_CASE("neighbours are mutual and faces match") {
  const auto g = grid({8, 9, 10}, {2, 2, 2}, {edge::periodic, edge::fixed, edge::periodic});
  for (int pe = 0; pe < 8; ++pe) {
    const box b = box_of(g, pe);
    for (int face = 0; face < faces; ++face) {
      const int to = b.neighbour[face];
      if (to == no_neighbour) continue;
      const box other = box_of(g, to);
      CHECK(other.neighbour[opposite(face)] == pe);
      CHECK(other.face_size(face / 2) == b.face_size(face / 2));
    }
    CHECK((b.neighbour[2] == no_neighbour) != (b.neighbour[3] == no_neighbour));
  }
}

TEST_CASE("cells of a face and their numbers") {
  const box b = box_of(grid({6, 7, 8}, {2, 1, 1}), 0);
  for (index_t i = 0; i < b.face_size(0); ++i) {
    const cell c = b.face_cell<0>(1, i);
    CHECK(c.at[0] == b.extent[0] - 1);
    CHECK(b.face_index(0, c) == i);
    CHECK(b.on_face(0, 1, c));
    CHECK_FALSE(b.on_face(0, 0, c));  // no neighbour there
  }
  for (index_t i = 0; i < b.face_size(1); ++i) CHECK(b.face_index(1, b.face_cell<1>(0, i)) == i);
  for (index_t i = 0; i < b.face_size(2); ++i) CHECK(b.face_index(2, b.face_cell<2>(0, i)) == i);
}

TEST_CASE("a cell on several faces belongs to one") {
  const box b = box_of(grid({4, 4}, {2, 2}, {edge::periodic, edge::periodic}), 0);
  const cell corner{{0, 0, 0}};
  CHECK(b.owned_by_face<1>(0, corner));
  CHECK_FALSE(b.owned_by_face<2>(0, corner));
  const box thin = box_of(grid({2, 4}, {2, 1}, {edge::periodic, edge::fixed}), 0);
  CHECK(thin.owned_by_face<1>(0, corner));
  CHECK_FALSE(thin.owned_by_face<1>(1, corner));
}

TEST_CASE("fixed layers are Dirichlet cells, faces are left out of the interior") {
  const box first = box_of(grid({10, 6}, {2, 1}), 0);
  CHECK(first.updated[1] == index_range{1, 5});
  CHECK(first.interior[1] == index_range{1, 4});
  CHECK(first.interior[2] == index_range{1, 5});
  const box wrapped = box_of(grid({10, 6}, {1, 1}, {edge::periodic, edge::fixed}), 0);
  CHECK(wrapped.updated[1] == index_range{0, 10});
  CHECK(wrapped.interior[1] == index_range{1, 9});
  CHECK(wrapped.neighbour[2] == 0);
}

TEST_CASE("ready coefficients") {
  CHECK(jacobi_coefficients<double>(2) == std::vector<double>{0, 0.25, 0.25, 0.25, 0.25});
  CHECK(heat_coefficients<float>(3, 0.125) ==
        std::vector<float>{0.25f, 0.125f, 0.125f, 0.125f, 0.125f, 0.125f, 0.125f});
}

}  // namespace
}  // namespace starling::stencil
