// The interior of a box as a GPU does it: the cut among blocks, and threads that stream along columns, against a loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "stencil/problem.hpp"
#include "stencil/step/stencil_kernels.hpp"
#include "stencil/step/tile_queue.hpp"
#include "support/test_machine.hpp"

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

TEST_CASE("the tiles of a cut hold every cell of the interior once") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    random_box b(seed, seed % 2 == 0 ? 2 : 3, 40);
    const int blocks = std::uniform_int_distribution<int>(1, 140)(b.draw);
    const bool dynamic = seed % 4 < 2;
    const interior_partition cut = partition_interior<float>(b.g, blocks, 1 << (seed % 10), 4, dynamic);
    CAPTURE(seed);
    REQUIRE(cut.tiles() >= 1);
    REQUIRE(cut.blocks == blocks);
    REQUIRE(cut.dynamic() == dynamic);
    if (!dynamic) REQUIRE(cut.tiles() <= blocks);
    REQUIRE(cut.segments >= 1);
    std::vector<int> times(static_cast<std::size_t>(b.own.extent[0] * b.own.extent[1] * b.own.extent[2]));
    const auto number = [&](index_t z, index_t y, index_t x) {
      return static_cast<std::size_t>((z * b.own.extent[1] + y) * b.own.extent[2] + x);
    };
    for (int i = 0; i < cut.tiles(); ++i) {
      const interior_tile p = cut.tile(b.own, i);
      for (index_t z = p.zs.begin; z < p.zs.end; ++z)
        for (index_t y = p.ys.begin; y < p.ys.end; ++y)
          for (index_t x = p.xs.begin; x < p.xs.end; ++x) ++times[number(z, y, x)];
    }
    const auto& in = b.own.interior;
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
  CHECK(partition_interior<float>(plane, 132, 512, 4, false).tiles() == 132);
  CHECK_FALSE(scheduled_dynamically<float>(plane));
  plane.extent[1] = plane.extent[2] = 8192;
  CHECK(scheduled_dynamically<float>(plane));
  const interior_partition dynamic = partition_interior<float>(plane, 396, 256, 4, true);
  CHECK(dynamic.parts[2] == 8);
  CHECK(dynamic.parts[1] == 1024);
  plane.parts[2] = 2;
  CHECK_FALSE(scheduled_dynamically<float>(plane));
  geometry cube;
  cube.active[0] = true;
  cube.extent[0] = cube.extent[1] = cube.extent[2] = 512;
  CHECK(partition_interior<float>(cube, 132, 512, 4, false).tiles() >= 120);
  CHECK(scheduled_dynamically<float>(cube));
  const interior_partition tiles = partition_interior<float>(cube, 396, 256, 4, true);
  CHECK(tiles.queue_extent[1] == 8);
  CHECK(tiles.queue_extent[2] == 128);
  cube.parts[0] = 4;
  CHECK_FALSE(scheduled_dynamically<float>(cube));
}

TEST_CASE("tiles of the queue keep the threads of a block busy in narrow arrays") {
  for (const int dimensions : {2, 3})
    for (const index_t width : {1, 5, 40, 130, 257, 1030, 1100, 5000}) {
      geometry g;
      g.active[0] = dimensions == 3;
      g.extent[0] = dimensions == 3 ? 1000 : 1;
      g.extent[1] = 1000;
      g.extent[2] = width;
      const interior_partition cut = partition_interior<float>(g, 396, 256, 4, true);
      const index_t vectors = cut.queue_extent[2] / 4;
      const index_t rows = dimensions == 3 ? cut.queue_extent[1] : 1;
      CAPTURE(dimensions);
      CAPTURE(width);
      CHECK(vectors * rows * cut.segments <= 256);
      CHECK(vectors * rows * cut.segments > 192);
      CHECK(ceil_div(ceil_div(width, index_t{4}), vectors) == cut.parts[2]);
    }
}

// All threads of all tiles, one after the other: none needs what another makes.
template <class T, int Dimensions>
void compare_column_streams(unsigned seed) {
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
  const interior_partition cut = partition_interior<T>(b.g, std::uniform_int_distribution<int>(1, 12)(b.draw), threads,
                                                       column_stream<T, Dimensions>::width, false);
  T change = 0;
  const auto compare = [&](const auto& columns) {
    for (int i = 0; i < cut.tiles(); ++i) {
      const interior_tile p = cut.tile(b.own, i);
      if (p.empty()) continue;
      for (int member = 0; member < threads; ++member)
        columns.template run<true>(member, threads, p.zs, p.ys, p.xs, cut.segments, change);
    }
  };
  if (std::uniform_int_distribution<int>(0, 1)(b.draw) == 0)
    compare(column_stream<T, Dimensions>(w, in, out, layer, pitch));
  else
    compare(column_stream<T, Dimensions, true>(w, in, out, layer, pitch));
  T wanted_change = 0;
  bool right = true;
  for (index_t z = 0; z < b.own.extent[0]; ++z)
    for (index_t y = 0; y < b.own.extent[1]; ++y)
      for (index_t x = 0; x < pitch; ++x) {
        const auto has = [&](int a, index_t at) { return at >= b.own.interior[a].begin && at < b.own.interior[a].end; };
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

// A box whose rows are whole, in memory as a solver has it: vectors beside the interior are Dirichlet cells or room
// behind.
template <class T>
struct dirichlet_rows {
  geometry g{};
  box own{};
  index_t pitch = 0;
  index_t layer = 0;
  coefficients<T> weight{};
  std::vector<cell_vector<T>> in_vectors, out_vectors;

  dirichlet_rows(std::mt19937& draw, int dimensions, index_t longest) {
    const auto extent = [&] { return std::uniform_int_distribution<index_t>(1, longest)(draw); };
    std::uniform_real_distribution<T> value(-1, 1);
    g.active[0] = dimensions == 3;
    for (int a = axes - dimensions; a < axes; ++a) {
      g.parts[a] = a < 2 ? std::uniform_int_distribution<int>(1, 2)(draw) : 1;
      g.extent[a] = g.parts[a] * extent();
    }
    own = box_of(g, static_cast<int>(draw() % static_cast<unsigned>(g.n_pes())));
    pitch = round_up(g.largest(2), index_t{128 / sizeof(T)});
    layer = pitch * g.largest(1);
    weight.centre = value(draw);
    for (int a = axes - dimensions; a < axes; ++a) {
      weight.low[a] = value(draw);
      weight.high[a] = value(draw);
    }
    // A vector before the array and one behind it, which are loaded and not used.
    in_vectors.resize(static_cast<std::size_t>(g.largest(0) * layer / cell_vector<T>::width + 2));
    out_vectors.resize(in_vectors.size());
    for (index_t i = 0; i < g.largest(0) * layer; ++i) {
      in()[i] = value(draw);
      out()[i] = dirichlet(i) ? in()[i] : T{-7};
    }
  }
  T* in() { return in_vectors[1].cell; }
  T* out() { return out_vectors[1].cell; }
  bool interior(index_t i) const {
    const index_t at[axes] = {i / layer, i % layer / pitch, i % pitch};
    for (int a = 0; a < axes; ++a)
      if (at[a] < own.interior[a].begin || at[a] >= own.interior[a].end) return false;
    return true;
  }
  bool dirichlet(index_t i) const { return i % pitch < own.interior[2].begin || i % pitch >= own.interior[2].end; }

  // What a step makes of a cell, and by how much that differs.
  template <int Dimensions>
  T made(index_t i, T& change) {
    if (!interior(i)) return dirichlet(i) ? in()[i] : T{-7};
    const T* u = in() + i;
    surroundings<T> s{*u, 0, 0, u[-pitch], u[pitch], u[-1], u[1]};
    if constexpr (Dimensions == 3) {
      s.below = u[-layer];
      s.above = u[layer];
    }
    const T value = relaxed<Dimensions>(weight, s);
    note_difference(s.centre, value, change);
    return value;
  }
};

// All threads of all queued tiles, as a GPU's do.
template <class T, int Dimensions>
void compare_pieces(unsigned seed) {
  std::mt19937 draw(seed);
  dirichlet_rows<T> rows(draw, Dimensions, Dimensions == 3 ? 26 : 90);
  const int threads = 32 * std::uniform_int_distribution<int>(1, 8)(draw);
  const interior_partition cut = partition_interior<T>(rows.g, 3, threads, cell_vector<T>::width, true);
  tile_queue<T> queue{};
  queue.begin({rows.in(), rows.out(), rows.layer, rows.pitch}, rows.own, nullptr, 0, cut);
  T change = 0;
  for (int i = 0; i < cut.tiles(); ++i)
    for (int member = 0; member < threads; ++member)
      stream_tile<Dimensions, true>(rows.weight, queue, cut.queue_start(queue.first, i),
                                    thread_of(cut, member, cell_vector<T>::width, Dimensions), change);
  T wanted_change = 0;
  bool right = true;
  for (index_t i = 0; i < rows.g.largest(0) * rows.layer; ++i)
    right = right && rows.out()[i] == rows.template made<Dimensions>(i, wanted_change);
  CAPTURE(seed);
  CHECK(right);
  CHECK(change == wanted_change);
}

TEST_CASE("threads that stream through tiles of the queue make what a loop makes, and nothing else") {
  for (unsigned seed = 0; seed < 120; ++seed) {
    compare_pieces<float, 2>(seed);
    compare_pieces<double, 2>(seed);
    compare_pieces<float, 3>(seed);
    compare_pieces<double, 3>(seed);
  }
}

TEST_CASE("blocks take every tile of every step once, also when the count of tiles overflows") {
  std::mt19937 draw(19);
  std::optional<machine> m = test::test_machine(1);
  if (!m || m->kind() != machine_kind::host) return;
  for (const int dimensions : {2, 3})
    for (const int blocks : {1, 2, 5}) {
      problem<double> p;
      p.shape = dimensions == 3 ? std::vector<index_t>{14, 21, 9} : std::vector<index_t>{67, 9};
      p.coefficients = heat_coefficients<double>(dimensions, 0.1);
      fields<double> f;
      f.shape = geometry_of(p, 1);
      f.weight.centre = 0.3;
      for (int a = axes - dimensions; a < axes; ++a) f.weight.low[a] = f.weight.high[a] = 0.11;
      const index_t cells = f.shape.largest(0) * f.shape.stride[0];
      auto u = m->allocate<double>(cells);
      auto u_next = m->allocate<double>(cells);
      auto own = m->allocate<box>(1);
      auto taken = m->allocate<std::uint32_t>(1);
      *own.on(0) = box_of(f.shape, 0);
      // Few steps before the count overflows.
      const interior_partition cut = partition_interior<double>(f.shape, blocks, 1, 1, true);
      REQUIRE(cut.tiles() > 2);
      const index_t steps_before = (index_t{1} << 32) / cut.tiles() - 2;
      f.u[0] = u.data();
      f.u[1] = u_next.data();
      f.own = own.data();
      f.tile_counter = taken.data();
      f.counter_reset_at = 0;
      std::uniform_real_distribution<double> value(-1, 1);
      for (index_t i = 0; i < cells; ++i) u.on(0)[i] = u_next.on(0)[i] = value(draw);
      std::vector<double> expected(u.on(0), u.on(0) + cells);
      const std::vector<double> first = expected;
      const index_t start = steps_before + steps_before % 2;  // even: the first cells are in u
      *taken.on(0) = static_cast<std::uint32_t>(start * cut.tiles());
      stream s = m->new_stream(0);
      for (index_t step = 1; step <= 8; ++step) {
        const step_arguments<double> a{.f = f, .time_level = start + step, .interior = cut};
        s.launch_kernel(blocks, step_kernel(a, step_part::interior, 0), {.scratch_bytes = scratch_bytes});
        s.synchronize();
        const std::vector<double> before = expected;
        const box b = *own.on(0);
        for (index_t z = b.interior[0].begin; z < b.interior[0].end; ++z)
          for (index_t y = b.interior[1].begin; y < b.interior[1].end; ++y)
            for (index_t x = b.interior[2].begin; x < b.interior[2].end; ++x) {
              const index_t i = z * f.shape.stride[0] + y * f.shape.stride[1] + x;
              const double* c = before.data() + i;
              const index_t pitch = f.shape.stride[1];
              surroundings<double> around{*c, 0, 0, c[-pitch], c[pitch], c[-1], c[1]};
              if (dimensions == 3) {
                around.below = c[-f.shape.stride[0]];
                around.above = c[f.shape.stride[0]];
              }
              expected[static_cast<std::size_t>(i)] =
                  dimensions == 3 ? relaxed<3>(f.weight, around) : relaxed<2>(f.weight, around);
            }
        const double* now = f.u[step % 2].on(0);
        CAPTURE(dimensions);
        CAPTURE(blocks);
        CAPTURE(step);
        CHECK(std::equal(expected.begin(), expected.end(), now));
        CHECK(*taken.on(0) == static_cast<std::uint32_t>((start + step) * cut.tiles()));
      }
      CHECK(expected != first);
    }
}

TEST_CASE("threads that stream along columns make what a loop makes, and nothing else") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    compare_column_streams<float, 2>(seed);
    compare_column_streams<double, 2>(seed);
    compare_column_streams<float, 3>(seed);
    compare_column_streams<double, 3>(seed);
  }
}

}  // namespace
}  // namespace starling::stencil
