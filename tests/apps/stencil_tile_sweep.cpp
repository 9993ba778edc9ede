// Steps over a tile by many threads, in two arrays and in one, against a plain loop.
#include "stencil/tile_memory_sweep.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <vector>

#include "starling/base/error.hpp"
#include "stencil/tile_choice.hpp"
#include "support/threads_of_block.hpp"

namespace starling::stencil {
namespace {

// A tile with a ring all around it, whose cells are on chip but for the last layers.
template <class T, int Dimensions>
struct tile_fixture {
  static constexpr int along = columns<Dimensions>::along;
  tiling t;
  tile mine{};
  coefficients<T> weight{};
  std::vector<T> chip[2];
  std::vector<T> memory[2];

  explicit tile_fixture(std::mt19937& draw) {
    const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
    std::uniform_real_distribution<T> value(-1, 1);
    problem<T> p;
    for (int a = 0; a < Dimensions; ++a) p.shape.push_back(between(5, a == 0 ? 40 : 13));
    for (int a = 0; a <= 2 * Dimensions; ++a) p.coefficients.push_back(value(draw));
    p.edges.assign(p.shape.size(), edge::periodic);
    const geometry g = geometry_of(p, 1);
    run_options o{.how = variant::temporal, .blocks = 1};
    o.depth = between(1, 4);
    o.on_chip_bytes = between(0, 1) == 0 ? 0 : static_cast<std::size_t>(between(2000, 12000));
    for (;; o.on_chip_bytes += 1000) try {
        t = choose_tiles<T>(g, {machine_kind::host, 1, std::size_t{1} << 20}, o).grid;
        break;
      } catch (const launch_error&) {
      }
    mine = tile_of(g, t, box_of(g, 0), 0);
    for (int a = axes - Dimensions; a < axes; ++a)
      for (int side = 0; side < 2; ++side)
        if (between(0, 2) == 0) {  // as at an edge of the domain
          mine.open[2 * a + side] = false;
          (side == 0 ? mine.updated_begin[a] : mine.updated_end[a]) += side == 0 ? 1 : -1;
        }
    weight.centre = value(draw);
    for (int a = axes - Dimensions; a < axes; ++a) {
      weight.low[a] = value(draw);
      weight.high[a] = value(draw);
    }
    for (int which = 0; which < 2; ++which) {
      chip[which].resize(static_cast<std::size_t>(t.chip.elements) + 1);
      memory[which].resize(static_cast<std::size_t>(t.memory.elements) + 1);
    }
    for (T& v : chip[0]) v = value(draw);
    for (T& v : memory[0]) v = value(draw);
    chip[1] = chip[0];
    memory[1] = memory[0];
  }

  template <bool Streams>
  tile_cells<T, Dimensions, Streams> cells(int which) {
    return {chip[which].data(), memory[which].data(), t};
  }
};

template <class T, int Dimensions>
void in_memory(const tile_fixture<T, Dimensions>& f, const test::thread_of_block& g,
               const tile_cells<T, Dimensions, true>& in, const tile_cells<T, Dimensions, true>& out, int reach,
               T& change) {
  using sweep = memory_sweep<T, Dimensions>;
  const int segments = sweep::segments(f.mine, f.t, g.members());
  sweep(f.weight, f.mine, in, out).template run<true>(g.member(), g.members(), segments, reach, change);
}

template <class T, int Dimensions, bool Streams>
void compare_sweeps(tile_fixture<T, Dimensions>& f, int reach, int members) {
  tile_fixture<T, Dimensions> plain = f;
  tile_fixture<T, Dimensions> two = f;
  tile_fixture<T, Dimensions> one = f;
  struct alone {
    void for_each(index_range r, const std::function<void(index_t)>& body) const {
      for (index_t i = r.begin; i < r.end; ++i) body(i);
    }
  };
  const int deepest = f.t.depth - 1;
  T wanted = 0;
  {
    const auto in = plain.template cells<Streams>(0);
    const auto out = plain.template cells<Streams>(1);
    two_array_sweep<T, Dimensions, Streams>(f.weight, f.mine, in, out).template run_rows<true>(alone{}, reach, wanted);
  }
  std::vector<T> changes(static_cast<std::size_t>(2 * members));
  test::run_as_block(members, [&](const test::thread_of_block& g) {
    const columns<Dimensions> c(f.mine, deepest, g.member(), members, f.t.layers_on_chip);
    const auto in = two.template cells<Streams>(0);
    const auto out = two.template cells<Streams>(1);
    T& change = changes[static_cast<std::size_t>(g.member())];
    if constexpr (Streams) in_memory(f, g, in, out, reach, change);
    two_array_sweep<T, Dimensions, Streams>(f.weight, f.mine, in, out).template run<true>(c, reach, change);
  });
  int count = 1;
  for (int a = columns<Dimensions>::along + 1; a < axes; ++a)
    count *= f.mine.end(a, deepest) - f.mine.begin(a, deepest);
  const bool wide = count > members;
  if (!wide) {
    std::vector<T> kept(static_cast<std::size_t>(2 * members));
    test::run_as_block(members, [&](const test::thread_of_block& g) {
      const columns<Dimensions> c(f.mine, deepest, g.member(), members, f.t.layers_on_chip);
      const auto cells = one.template cells<Streams>(0);
      T& change = changes[static_cast<std::size_t>(members + g.member())];
      if constexpr (Streams) in_memory(f, g, cells, one.template cells<Streams>(1), reach, change);
      one_array_sweep<T, Dimensions, Streams>(f.weight, f.mine, cells, kept.data())
          .template run<true>(g, c, reach, change);
    });
  }
  T seen[2] = {0, 0};
  for (int i = 0; i < members; ++i)
    for (int k = 0; k < 2; ++k) seen[k] = maximum{}(seen[k], changes[static_cast<std::size_t>(k * members + i)]);
  CHECK(seen[0] == wanted);
  CHECK(two.chip[1] == plain.chip[1]);
  CHECK(two.memory[1] == plain.memory[1]);
  if (wide) return;
  CHECK(seen[1] == wanted);
  CHECK(one.chip[0] == plain.chip[1]);
  CHECK(one.memory[1] == plain.memory[1]);
}

template <class T, int Dimensions>
void compare_random_tiles(unsigned seed) {
  std::mt19937 draw(seed);
  int streamed = 0;
  for (int round = 0; round < 60; ++round) {
    tile_fixture<T, Dimensions> f(draw);
    const int reach = std::uniform_int_distribution<int>(0, f.t.depth - 1)(draw);
    const int members = std::uniform_int_distribution<int>(1, Dimensions == 2 ? 40 : 130)(draw);
    INFO("seed ", seed, " round ", round, " reach ", reach, " depth ", f.t.depth, " members ", members, " on chip ",
         f.t.layers_on_chip);
    if (f.t.streams)
      compare_sweeps<T, Dimensions, true>(f, reach, members);
    else
      compare_sweeps<T, Dimensions, false>(f, reach, members);
    streamed += f.t.streams ? 1 : 0;
  }
  CHECK(streamed > 5);
}

TEST_CASE("2D tiles, float") { compare_random_tiles<float, 2>(41); }
TEST_CASE("2D tiles, double") { compare_random_tiles<double, 2>(42); }
TEST_CASE("3D tiles, float") { compare_random_tiles<float, 3>(43); }
TEST_CASE("3D tiles, double") { compare_random_tiles<double, 3>(44); }

}  // namespace
}  // namespace starling::stencil
