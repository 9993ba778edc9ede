// Steps over a tile by many threads, in two arrays, in one and in registers, against a plain loop.
#include "stencil/tile_memory_sweep.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <vector>

#include "starling/base/error.hpp"
#include "stencil/band_sweep.hpp"
#include "stencil/one_array_sweep.hpp"
#include "stencil/tile_choice.hpp"
#include "support/played_lanes.hpp"
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

  tile_fixture(std::mt19937& draw, bool in_place) {
    const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
    std::uniform_real_distribution<T> value(-1, 1);
    // On GPUs cells are in one array where two do not fit.
    const machine_kind kind = in_place ? machine_kind::cuda : machine_kind::host;
    const bool streams = between(0, 1) == 0;
    for (bool found = false; !found;) {
      problem<T> p;
      const int widest = Dimensions == 2 && in_place && between(0, 4) == 0 ? 120 : 13;
      for (int a = 0; a < Dimensions; ++a) p.shape.push_back(between(5, a == 0 ? 40 : widest));
      p.coefficients.resize(1 + 2 * Dimensions);
      p.edges.assign(p.shape.size(), edge::periodic);
      const geometry g = geometry_of(p, 1);
      run_options o{.how = variant::temporal, .blocks = 1};
      o.depth = between(1, 4);
      o.on_chip_bytes = !in_place && between(0, 1) == 0 ? 0 : std::size_t{1000} << between(0, 5);
      o.on_chip_bytes += o.on_chip_bytes * static_cast<std::size_t>(between(0, 9)) / 10;
      try {
        t = choose_tiles<T>(g, {kind, 1, std::size_t{1} << 20}, o).grid;
        found = t.in_place == in_place && (!in_place || t.streams == streams);
      } catch (const launch_error&) {
      }
      mine = tile_of(g, t, box_of(g, 0), 0);
    }
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

// A plain loop from the first array to the second.
template <bool Streams, class T, int Dimensions>
T step_plainly(tile_fixture<T, Dimensions>& f, int reach) {
  struct alone {
    void for_each(index_range r, const std::function<void(index_t)>& body) const {
      for (index_t i = r.begin; i < r.end; ++i) body(i);
    }
  };
  T change = 0;
  const auto in = f.template cells<Streams>(0);
  const auto out = f.template cells<Streams>(1);
  two_array_sweep<T, Dimensions, Streams>(f.weight, f.mine, in, out).template run_rows<true>(alone{}, reach, change);
  return change;
}

template <class T>
T largest(const std::vector<T>& changes) {
  T all = 0;
  for (const T change : changes) all = maximum{}(all, change);
  return all;
}

template <class T, int Dimensions, bool Streams>
void compare_two_arrays(tile_fixture<T, Dimensions> f, int reach, int members) {
  tile_fixture<T, Dimensions> plain = f;
  const T wanted = step_plainly<Streams>(plain, reach);
  std::vector<T> changes(static_cast<std::size_t>(members));
  test::run_as_block(members, [&](const test::thread_of_block& g) {
    const columns<Dimensions> c(f.mine, f.t.depth - 1, g.member(), members, f.t.layers_on_chip);
    const auto in = f.template cells<Streams>(0);
    const auto out = f.template cells<Streams>(1);
    T& change = changes[static_cast<std::size_t>(g.member())];
    if constexpr (Streams) in_memory(f, g, in, out, reach, change);
    two_array_sweep<T, Dimensions, Streams>(f.weight, f.mine, in, out).template run<true>(c, reach, change);
  });
  CHECK(largest(changes) == wanted);
  CHECK(f.chip[1] == plain.chip[1]);
  CHECK(f.memory[1] == plain.memory[1]);
}

template <class T, int Dimensions, bool Streams>
void compare_one_array(tile_fixture<T, Dimensions> f, int reach, int members) {
  using patch = stencil::patch<T, Dimensions>;
  tile_fixture<T, Dimensions> plain = f;
  const T wanted = step_plainly<Streams>(plain, reach);
  members += patch::count(f.mine, f.t.depth - 1);
  std::vector<T> changes(static_cast<std::size_t>(members));
  test::run_as_block(members, [&](const test::thread_of_block& g) {
    const patch p(f.mine, f.t.depth - 1, g.member(), members);
    const auto cells = f.template cells<Streams>(0);
    one_array_sweep<T, Dimensions, Streams>(f.weight, f.mine, cells, p, reach)
        .template run<true>(g, changes[static_cast<std::size_t>(g.member())]);
  });
  CHECK(largest(changes) == wanted);
  CHECK(f.chip[0] == plain.chip[1]);
  CHECK(f.memory[0] == plain.memory[1]);
}

template <class T, int Dimensions>
void compare_random_tiles(unsigned seed) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  int streamed[2] = {0, 0};
  for (int round = 0; round < 120; ++round) {
    const bool in_place = round % 2 == 1;
    const tile_fixture<T, Dimensions> f(draw, in_place);
    const int reach = between(0, f.t.depth - 1);
    const int members = in_place ? between(0, 80) : between(1, Dimensions == 2 ? 40 : 130);
    INFO("seed ", seed, " round ", round, " reach ", reach, " depth ", f.t.depth, " members ", members, " on chip ",
         f.t.layers_on_chip);
    if (in_place)
      f.t.streams ? compare_one_array<T, Dimensions, true>(f, reach, members)
                  : compare_one_array<T, Dimensions, false>(f, reach, members);
    else
      f.t.streams ? compare_two_arrays<T, Dimensions, true>(f, reach, members)
                  : compare_two_arrays<T, Dimensions, false>(f, reach, members);
    streamed[in_place] += f.t.streams ? 1 : 0;
  }
  for (const int n : streamed) {
    CHECK(n > 5);
    CHECK(n < 58);
  }
}

// f(y, x) for the tile's own cells that steps make.
template <class F>
void each_made(const tile& mine, const F& f) {
  for (int y = mine.begin(1, 0); y < mine.end(1, 0); ++y)
    for (int x = mine.begin(2, 0); x < mine.end(2, 0); ++x) f(y, x);
}

// Where the ring has one layer, some steps with the same ring; otherwise as many as it has layers. `idle` more warps
// have nothing to do.
template <int Rows, bool Deep, class T>
void compare_bands(tile_fixture<T, 2> f, bool alike, int idle) {
  if (alike) f.weight.low[2] = f.weight.high[2] = f.weight.high[1] = f.weight.low[1];
  const int depth = f.t.depth;
  const int y_begin = f.mine.begin(1, depth - 1);
  const int rows = f.mine.end(1, depth - 1) - y_begin;
  REQUIRE(rows >= Rows);
  tile_fixture<T, 2> plain = f;
  const int steps = depth == 1 ? 3 : depth;
  T wanted = 0;
  for (int i = 0; i < steps; ++i) {
    wanted = step_plainly<false>(plain, depth == 1 ? 0 : depth - 1 - i);
    std::swap(plain.chip[0], plain.chip[1]);
  }
  const int bands = static_cast<int>(ceil_div(rows, Rows));
  const int members = (bands + idle) * band_vectors;
  std::vector<test::played_warp<T>> values(static_cast<std::size_t>(bands + idle));
  std::vector<T> changes(static_cast<std::size_t>(members));
  std::vector<T> shared;
  const auto cells = f.template cells<false>(0);
  test::run_as_block(members, [&](const test::thread_of_block& g) {
    band_sweep<T, Rows, Deep> band(f.weight, alike, f.mine, cells, g.member());
    band.load();
    for (int i = 0; i < steps; ++i) {
      g.sync();
      band.step(test::played_lanes<T>(values, g.member()), i == steps - 1,
                changes[static_cast<std::size_t>(g.member())]);
      g.sync();
      band.share();
    }
    g.sync();
    if (g.member() == 0) shared = f.chip[0];
    g.sync();
    band.store();
  });
  CHECK(largest(changes) == wanted);
  const auto equal = [&](const std::vector<T>& chip, int y, int x) {
    const auto at = static_cast<std::size_t>(f.t.chip.at(0, y, x));
    return chip[at] == plain.chip[0][at];
  };
  bool all = true;
  bool edges = true;
  bool between = true;
  each_made(f.mine, [&](int y, int x) {
    all = all && equal(f.chip[0], y, x);
    const int to_edge[] = {y, f.mine.extent[1] - 1 - y, x, f.mine.extent[2] - 1 - x};
    bool at_edge = false;
    for (int side = 0; side < 4; ++side) at_edge = at_edge || (f.mine.open[2 + side] && to_edge[side] < 2);
    edges = edges && (!at_edge || equal(shared, y, x));
    for (int first = y_begin; first < y_begin + rows; first += Rows) {
      const int band = std::min(first, y_begin + rows - Rows);
      between = between && ((y != band - 1 && y != band + Rows) || equal(shared, y, x));
    }
  });
  CHECK(between);
  CHECK(all);
  if (Deep) return;
  CHECK(edges);
  CHECK(std::equal(plain.chip[0].begin(), plain.chip[0].end(), f.chip[0].begin()));  // nothing else was written
}

template <int Rows, class T>
void compare_bands(const tile_fixture<T, 2>& f, bool alike, int idle) {
  f.t.depth > 1 ? compare_bands<Rows, true>(f, alike, idle) : compare_bands<Rows, false>(f, alike, idle);
}

template <class T>
void compare_random_bands(unsigned seed) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  for (int round = 0; round < 60;) {
    const tile_fixture<T, 2> f(draw, true);
    if (!f.t.bands.used()) continue;
    ++round;
    const bool alike = between(0, 1) == 0;
    const int idle = between(0, 1);
    INFO("seed ", seed, " round ", round, " alike ", alike, " depth ", f.t.depth, " extents ", f.mine.extent[1], " ",
         f.mine.extent[2]);
    const int rows = f.mine.end(1, f.t.depth - 1) - f.mine.begin(1, f.t.depth - 1);
    if (round % 3 == 2 && rows >= 8)
      compare_bands<8>(f, alike, idle);
    else if (round % 3 == 1 && rows >= 4)
      compare_bands<4>(f, alike, idle);
    else
      compare_bands<2>(f, alike, idle);
  }
}

TEST_CASE("2D tiles in registers, float") { compare_random_bands<float>(45); }
TEST_CASE("2D tiles in registers, double") { compare_random_bands<double>(46); }
TEST_CASE("2D tiles, float") { compare_random_tiles<float, 2>(41); }
TEST_CASE("2D tiles, double") { compare_random_tiles<double, 2>(42); }
TEST_CASE("3D tiles, float") { compare_random_tiles<float, 3>(43); }
TEST_CASE("3D tiles, double") { compare_random_tiles<double, 3>(44); }

}  // namespace
}  // namespace starling::stencil
