// The inside of a box as a GPU does it: the cut among blocks, and the march of threads along columns, against a loop.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "stencil/column_march.hpp"
#include "stencil/inside_cut.hpp"

namespace starling::stencil {
namespace {

struct random_box {
  std::mt19937 draw;
  geometry g{};
  box own{};

  random_box(unsigned seed, int dimensions, index_t longest) : draw(seed) {
    const auto extent = [&] { return std::uniform_int_distribution<index_t>(1, longest)(draw); };
    g.active[0] = dimensions == 3;
    for (int a = axes - dimensions; a < axes; ++a) {
      g.parts[a] = std::uniform_int_distribution<int>(1, 2)(draw);
      g.extent[a] = g.parts[a] * extent();
      g.periodic[a] = draw() % 3 == 0;
    }
    own = box_of(g, static_cast<int>(draw() % static_cast<unsigned>(g.n_pes())));
  }
};

TEST_CASE("the pieces of a cut hold every cell of the inside once") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    random_box b(seed, seed % 2 == 0 ? 2 : 3, 40);
    const int blocks = std::uniform_int_distribution<int>(1, 140)(b.draw);
    const index_t cached = seed % 4 < 2 ? 0 : bytes_beyond_cache;
    const inside_cut cut = cut_inside(b.g, blocks, 1 << (seed % 10), 4, cached);
    CAPTURE(seed);
    REQUIRE(cut.pieces() >= 1);
    REQUIRE(cut.blocks == blocks);
    if (cached > 0) REQUIRE(cut.pieces() <= blocks);
    REQUIRE(cut.segments >= 1);
    std::vector<int> times(static_cast<std::size_t>(b.own.extent[0] * b.own.extent[1] * b.own.extent[2]));
    const auto number = [&](index_t z, index_t y, index_t x) {
      return static_cast<std::size_t>((z * b.own.extent[1] + y) * b.own.extent[2] + x);
    };
    for (int i = 0; i < cut.pieces(); ++i) {
      const inside_piece p = cut.piece(b.own, i);
      for (index_t z = p.zs.begin; z < p.zs.end; ++z)
        for (index_t y = p.ys.begin; y < p.ys.end; ++y)
          for (index_t x = p.xs.begin; x < p.xs.end; ++x) ++times[number(z, y, x)];
    }
    const auto& in = b.own.inner;
    const auto has = [&](int a, index_t i) { return i >= in[a].begin && i < in[a].end; };
    bool right = true;
    for (index_t z = 0; z < b.own.extent[0]; ++z)
      for (index_t y = 0; y < b.own.extent[1]; ++y)
        for (index_t x = 0; x < b.own.extent[2]; ++x)
          right = right && times[number(z, y, x)] == (has(0, z) && has(1, y) && has(2, x) ? 1 : 0);
    CHECK(right);
  }
}

TEST_CASE("large insides are cut for every block, small ones among some") {
  geometry plane;
  plane.extent[1] = plane.extent[2] = 2048;
  CHECK(cut_inside(plane, 132, 512, 4).pieces() == 132);
  plane.extent[1] = plane.extent[2] = 8192;
  const inside_cut in_turn = cut_inside(plane, 132, 512, 4);
  CHECK(in_turn.beside == 4);
  CHECK(in_turn.along == 512);
  geometry cube;
  cube.active[0] = true;
  cube.extent[0] = cube.extent[1] = cube.extent[2] = 512;
  CHECK(cut_inside(cube, 132, 512, 4).pieces() >= 120);
}

// All threads of all pieces, one after the other: none needs what another makes.
template <class T, int Dimensions>
void compare_march(unsigned seed) {
  random_box b(seed, Dimensions, Dimensions == 3 ? 18 : 50);
  std::uniform_real_distribution<T> value(-1, 1);
  const index_t pitch = round_up(b.own.extent[2], index_t{128 / sizeof(T)});
  const index_t layer = pitch * b.own.extent[1];
  struct alignas(16) line {
    T cell[16 / sizeof(T)];
  };
  const auto lines = static_cast<std::size_t>(b.own.extent[0] * layer) / (16 / sizeof(T));
  std::vector<line> in_lines(lines + 2);
  std::vector<line> out_lines(lines + 2);
  T* in = in_lines[1].cell;
  T* out = out_lines[1].cell;
  const index_t n = b.own.extent[0] * layer;
  for (index_t i = 0; i < n; ++i) {
    in[i] = value(b.draw);
    out[i] = -7;
  }
  coefficients<T> w{};
  w.centre = value(b.draw);
  for (int a = axes - Dimensions; a < axes; ++a) {
    w.low[a] = value(b.draw);
    w.high[a] = value(b.draw);
  }
  const int threads = 1 << std::uniform_int_distribution<int>(0, 8)(b.draw);
  const index_t cached = std::uniform_int_distribution<int>(0, 1)(b.draw) == 0 ? 0 : bytes_beyond_cache;
  const inside_cut cut = cut_inside(b.g, std::uniform_int_distribution<int>(1, 12)(b.draw), threads,
                                    column_march<T, Dimensions>::width, cached);
  T change = 0;
  const auto march = [&](const auto& columns) {
    for (int i = 0; i < cut.pieces(); ++i) {
      const inside_piece p = cut.piece(b.own, i);
      if (p.empty()) continue;
      for (int member = 0; member < threads; ++member)
        columns.template run<true>(member, threads, p.zs, p.ys, p.xs, cut.segments, change);
    }
  };
  if (std::uniform_int_distribution<int>(0, 1)(b.draw) == 0)
    march(column_march<T, Dimensions>(w, in, out, layer, pitch));
  else
    march(column_march<T, Dimensions, true>(w, in, out, layer, pitch));
  T wanted_change = 0;
  bool right = true;
  for (index_t z = 0; z < b.own.extent[0]; ++z)
    for (index_t y = 0; y < b.own.extent[1]; ++y)
      for (index_t x = 0; x < pitch; ++x) {
        const auto has = [&](int a, index_t at) { return at >= b.own.inner[a].begin && at < b.own.inner[a].end; };
        const index_t at = z * layer + y * pitch + x;
        T wanted = -7;
        if (has(0, z) && has(1, y) && has(2, x)) {
          surroundings<T> s{in[at], 0, 0, in[at - pitch], in[at + pitch], in[at - 1], in[at + 1]};
          if constexpr (Dimensions == 3) {
            s.below = in[at - layer];
            s.above = in[at + layer];
          }
          wanted = relaxed<Dimensions>(w, s);
          note_difference(s.centre, wanted, wanted_change);
        }
        right = right && out[at] == wanted;
      }
  CAPTURE(seed);
  CHECK(right);
  CHECK(change == wanted_change);
}

TEST_CASE("threads that march along columns make what a loop makes, and nothing else") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    compare_march<float, 2>(seed);
    compare_march<double, 2>(seed);
    compare_march<float, 3>(seed);
    compare_march<double, 3>(seed);
  }
}

}  // namespace
}  // namespace starling::stencil
