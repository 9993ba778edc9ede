// Steps over a tile by many threads, in two arrays, in one and in registers, against a plain loop.
#include "stencil/tiles/double_buffered_sweep.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "stencil/plan/tile_choice.hpp"
#include "stencil/tiles/in_place_sweep.hpp"
#include "stencil/tiles/register_sweep.hpp"
#include "support/played_lanes.hpp"
#include "support/threads_of_block.hpp"

namespace starling::stencil {
namespace {

// How a tile is kept.
enum class kept { double_buffered, in_place, registers };

// A tile with a ghost zone all around it.
template <class T, int Dimensions>
struct tile_fixture {
  static constexpr int along = columns<Dimensions>::along;
  tiling t;
  tile mine{};
  coefficients<T> weight{};
  std::vector<T> shared[2];

  tile_fixture(std::mt19937& draw, kept how) {
    const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
    std::uniform_real_distribution<T> value(-1, 1);
    // On GPUs cells are in one array where two do not fit, and in bands where a warp has their rows.
    const machine_kind kind = how == kept::double_buffered ? machine_kind::host : machine_kind::cuda;
    for (bool found = false; !found;) {
      problem<T> p;
      const int widest = how == kept::registers && between(0, 4) == 0 ? 120 : 13;
      for (int a = 0; a < Dimensions; ++a) p.shape.push_back(between(5, a == 0 ? 40 : widest));
      p.coefficients.resize(1 + 2 * Dimensions);
      p.edges.assign(p.shape.size(), edge::periodic);
      const geometry g = geometry_of(p, 1);
      run_options o{.how = variant::temporal, .blocks = 1};
      o.depth = between(1, 4);
      if (how == kept::in_place) o.shared_bytes = static_cast<std::size_t>(between(3000, 60000));
      const std::optional<tile_choice> c = choose_tiles<T>(g, {kind, 1, std::size_t{1} << 20}, o);
      if (!c) continue;
      t = c->grid;
      found = t.registers.used() == (how == kept::registers) &&
              (how == kept::registers || t.single_buffered == (how == kept::in_place));
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
    shared[0].resize(static_cast<std::size_t>(t.shared.elements) + 1);
    for (T& v : shared[0]) v = value(draw);
    shared[1] = shared[0];
  }

  tile_cells<T, Dimensions> cells(int which) { return {shared[which].data(), t}; }
};

// A plain loop from the first array to the second.
template <class T, int Dimensions>
T step_plainly(tile_fixture<T, Dimensions>& f, int reach) {
  struct alone {
    void for_each(index_range r, const std::function<void(index_t)>& body) const {
      for (index_t i = r.begin; i < r.end; ++i) body(i);
    }
  };
  T change = 0;
  const auto in = f.cells(0);
  const auto out = f.cells(1);
  double_buffered_sweep<T, Dimensions>(f.weight, f.mine, in, out).template run_rows<true>(alone{}, reach, change);
  return change;
}

template <class T>
T largest(const std::vector<T>& changes) {
  T all = 0;
  for (const T change : changes) all = maximum{}(all, change);
  return all;
}

template <class T, int Dimensions>
void compare_two_arrays(tile_fixture<T, Dimensions> f, int reach, int members) {
  tile_fixture<T, Dimensions> plain = f;
  const T wanted = step_plainly(plain, reach);
  std::vector<T> changes(static_cast<std::size_t>(members));
  test::run_as_block(members, [&](const test::thread_of_block& g) {
    const columns<Dimensions> c(f.mine, f.t.depth - 1, g.member(), members);
    const auto in = f.cells(0);
    const auto out = f.cells(1);
    double_buffered_sweep<T, Dimensions>(f.weight, f.mine, in, out)
        .template run<true>(c, reach, changes[static_cast<std::size_t>(g.member())]);
  });
  CHECK(largest(changes) == wanted);
  CHECK(f.shared[1] == plain.shared[1]);
}

template <class T>
void compare_one_array(tile_fixture<T, 3> f, int reach, int members) {
  tile_fixture<T, 3> plain = f;
  const T wanted = step_plainly(plain, reach);
  members += in_place_columns<T>::count(f.mine, f.t.depth - 1);
  std::vector<T> changes(static_cast<std::size_t>(members));
  test::run_as_block(members, [&](const test::thread_of_block& g) {
    const in_place_columns<T> p(f.mine, f.t.depth - 1, g.member(), members);
    const auto cells = f.cells(0);
    in_place_sweep<T>(f.weight, f.mine, cells, p, reach)
        .template run<true>(g, changes[static_cast<std::size_t>(g.member())]);
  });
  CHECK(largest(changes) == wanted);
  CHECK(f.shared[0] == plain.shared[1]);
}

template <class T, int Dimensions>
void compare_random_tiles(unsigned seed, kept how) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  for (int round = 0; round < 60; ++round) {
    const tile_fixture<T, Dimensions> f(draw, how);
    const int reach = between(0, f.t.depth - 1);
    const int members = how == kept::in_place ? between(0, 80) : between(1, Dimensions == 2 ? 40 : 130);
    INFO("seed ", seed, " round ", round, " reach ", reach, " depth ", f.t.depth, " members ", members);
    if constexpr (Dimensions == 3)
      if (how == kept::in_place) {
        compare_one_array(f, reach, members);
        continue;
      }
    compare_two_arrays(f, reach, members);
  }
}

// f(y, x) for the tile's own cells that steps make.
template <class F>
void each_made(const tile& mine, const F& f) {
  for (int y = mine.begin(1, 0); y < mine.end(1, 0); ++y)
    for (int x = mine.begin(2, 0); x < mine.end(2, 0); ++x) f(y, x);
}

// Where the ghost zone has one layer, some steps with the same ghost zone; otherwise as many as it has layers. `idle`
// more warps have nothing to do.
template <int Rows, bool DeepHalo, class T>
void compare_bands(tile_fixture<T, 2> f, bool uniform_weights, int idle) {
  if (uniform_weights) f.weight.low[2] = f.weight.high[2] = f.weight.high[1] = f.weight.low[1];
  const int depth = f.t.depth;
  const int y_begin = f.mine.begin(1, depth - 1);
  const int rows = f.mine.end(1, depth - 1) - y_begin;
  REQUIRE(rows >= Rows);
  tile_fixture<T, 2> plain = f;
  const int steps = depth == 1 ? 3 : depth;
  T wanted = 0;
  for (int i = 0; i < steps; ++i) {
    wanted = step_plainly(plain, depth == 1 ? 0 : depth - 1 - i);
    std::swap(plain.shared[0], plain.shared[1]);
  }
  const int bands = static_cast<int>(ceil_div(rows, Rows));
  const int members = (bands + idle) * band_vectors;
  std::vector<test::played_warp<T>> values(static_cast<std::size_t>(bands + idle));
  std::vector<T> changes(static_cast<std::size_t>(members));
  std::vector<T> shared;
  const auto cells = f.cells(0);
  test::run_as_block(members, [&](const test::thread_of_block& g) {
    register_sweep<T, Rows, DeepHalo> band(f.weight, uniform_weights, f.mine, cells, g.member());
    band.load();
    for (int i = 0; i < steps; ++i) {
      g.sync();
      band.step(test::played_lanes<T>(values, g.member()), i == steps - 1,
                changes[static_cast<std::size_t>(g.member())]);
      g.sync();
      band.share();
    }
    g.sync();
    if (g.member() == 0) shared = f.shared[0];
    g.sync();
    band.store();
  });
  CHECK(largest(changes) == wanted);
  const auto equal = [&](const std::vector<T>& kept_cells, int y, int x) {
    const auto at = static_cast<std::size_t>(f.t.shared.at(0, y, x));
    return kept_cells[at] == plain.shared[0][at];
  };
  bool all = true;
  bool edges = true;
  bool between = true;
  each_made(f.mine, [&](int y, int x) {
    all = all && equal(f.shared[0], y, x);
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
  if (DeepHalo) return;
  CHECK(edges);
  CHECK(std::equal(plain.shared[0].begin(), plain.shared[0].end(), f.shared[0].begin()));  // nothing else was written
}

template <int Rows, class T>
void compare_bands(const tile_fixture<T, 2>& f, bool uniform_weights, int idle) {
  f.t.depth > 1 ? compare_bands<Rows, true>(f, uniform_weights, idle)
                : compare_bands<Rows, false>(f, uniform_weights, idle);
}

template <class T>
void compare_random_bands(unsigned seed) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  for (int round = 1; round <= 60; ++round) {
    const tile_fixture<T, 2> f(draw, kept::registers);
    const bool uniform_weights = between(0, 1) == 0;
    const int idle = between(0, 1);
    INFO("seed ", seed, " round ", round, " uniform weights ", uniform_weights, " depth ", f.t.depth, " extents ",
         f.mine.extent[1], " ", f.mine.extent[2]);
    const int rows = f.mine.end(1, f.t.depth - 1) - f.mine.begin(1, f.t.depth - 1);
    if (round % 3 == 2 && rows >= 8)
      compare_bands<8>(f, uniform_weights, idle);
    else if (round % 3 == 1 && rows >= 4)
      compare_bands<4>(f, uniform_weights, idle);
    else
      compare_bands<2>(f, uniform_weights, idle);
  }
}

TEST_CASE("2D tiles in registers, float") { compare_random_bands<float>(45); }
TEST_CASE("2D tiles in registers, double") { compare_random_bands<double>(46); }
TEST_CASE("2D tiles in two arrays, float") { compare_random_tiles<float, 2>(41, kept::double_buffered); }
TEST_CASE("2D tiles in two arrays, double") { compare_random_tiles<double, 2>(42, kept::double_buffered); }
TEST_CASE("3D tiles in two arrays, float") { compare_random_tiles<float, 3>(43, kept::double_buffered); }
TEST_CASE("3D tiles in two arrays, double") { compare_random_tiles<double, 3>(44, kept::double_buffered); }
TEST_CASE("3D tiles in one array, float") { compare_random_tiles<float, 3>(47, kept::in_place); }
TEST_CASE("3D tiles in one array, double") { compare_random_tiles<double, 3>(48, kept::in_place); }

}  // namespace
}  // namespace starling::stencil
