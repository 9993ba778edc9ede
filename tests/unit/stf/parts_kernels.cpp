// Data that is split into parts: by rows, columns and tiles, wherever the whole lies.
#include "support/stf/back_ends.hpp"
#include "support/stf/changed_parts.hpp"
#include "support/test_machine.hpp"

namespace starling::test::parts_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;
using test::change;

struct grid_2d {
  index_t rows;
  index_t columns;
  std::vector<std::int64_t> values;

  grid_2d(random& r, index_t n, index_t m) : rows(n), columns(m), values(static_cast<std::size_t>(n * m)) {
    for (auto& v : values) v = r.below(1000);
  }
  slice<std::int64_t, 2> view() { return slice<std::int64_t, 2>(values.data(), rows, columns); }
  void change(const stf::box<2>& b, std::int64_t what) {
    for (auto [i, j] : b) {
      auto& x = values[static_cast<std::size_t>(i * columns + j)];
      x = changed(x, 1000 * i + what);
    }
  }
};

TEST_CASE("random parts of two dimensions, wherever the whole lies") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 3);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      grid_2d x(r, 1 + r.below(12), 1 + r.below(12));
      grid_2d expected = x;
      context ctx(*m, {.backend = backend, .device_memory = seed % 2 == 0 ? std::size_t{16} << 10 : 0});
      auto d = ctx.logical_data(x.view());
      for (int round = 0; round < 4; ++round) {
        // The value goes to a place first.
        const std::int64_t what = r.below(100);
        change(ctx, anywhere(r, n_pes), d, 0, what);
        expected.change(stf::box(x.rows, x.columns), what);
        const auto work = [&](auto& parts) {
          for (int step = 0; step < 8; ++step) {
            const int i = static_cast<int>(r.below(parts.size()));
            change(ctx, anywhere(r, n_pes), parts[i], parts.box(i).lower(0), step);
            expected.change(parts.box(i), step);
            if (r.below(5) == 0) ctx.fence();
          }
          if (r.below(2) == 0) ctx.join(parts);
        };
        const auto count = 1 + r.below(5);
        switch (r.below(4)) {
          case 0: {
            auto parts = ctx.split(d, count);
            work(parts);
            break;
          }
          case 1: {
            auto parts = ctx.split(d, count, stf::blocked{1});
            work(parts);
            break;
          }
          case 2: {
            auto parts = ctx.split(d, {2, static_cast<int>(count)}, data_place::device(n_pes - 1));
            work(parts);
            break;
          }
          default: {
            auto parts = ctx.split(d, count, stf::halo{1}, data_place::host());
            work(parts);
          }
        }
      }
      ctx.finalize();
      CHECK(x.values == expected.values);
    }
}

template <int Rank>
using columns = cuda::std::mdspan<std::int64_t, cuda::std::dextents<index_t, Rank>, cuda::std::layout_left>;

void change(context& ctx, const exec_place& where, const stf::logical_data<columns<2>>& d, index_t row, index_t column,
            std::int64_t what) {
  ctx.parallel_for(where, d.shape(), d.rw())->*STARLING_KERNEL(index_t i, index_t j, columns<2> x) {
    x(i, j) = changed(x(i, j), 1000 * (row + i) + 17 * (column + j) + what);
  };
}

// In column-major data the last dimension is the slowest: that one is cut when none is named.
TEST_CASE("random parts of column-major data, wherever the whole lies") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const auto backend : stream_and_graph) {
      random r(seed);
      INFO("seed " << seed);
      const int n_pes = 1 + static_cast<int>(seed % 3);
      const auto m = test_machine(n_pes);
      if (!m) continue;
      const index_t rows = 1 + r.below(12);
      const index_t n_columns = 1 + r.below(12);
      std::vector<std::int64_t> x(static_cast<std::size_t>(rows * n_columns));
      for (auto& v : x) v = r.below(1000);
      std::vector<std::int64_t> expected = x;
      const auto expect = [&](const stf::box<2>& b, std::int64_t what) {
        for (auto [i, j] : b) {
          auto& v = expected[static_cast<std::size_t>(i + j * rows)];
          v = changed(v, 1000 * i + 17 * j + what);
        }
      };
      context ctx(*m, {.backend = backend});
      auto d = ctx.logical_data(columns<2>(x.data(), rows, n_columns));
      for (int round = 0; round < 5; ++round) {
        const std::int64_t what = r.below(100);
        change(ctx, r.below(2) == 0 ? exec_place::all_devices() : anywhere(r, n_pes), d, 0, 0, what);
        expect(stf::box(rows, n_columns), what);
        const auto work = [&](auto parts) {
          for (int step = 0; step < 8; ++step) {
            const int i = static_cast<int>(r.below(parts.size()));
            const auto box = parts.box(i);
            change(ctx, anywhere(r, n_pes), parts[i], box.lower(0), box.lower(1), step);
            expect(box, step);
          }
          if (r.below(2) == 0) ctx.join(parts);
        };
        const index_t count = 1 + r.below(4);
        switch (round) {
          case 0: {
            auto parts = ctx.split(d, count);
            CHECK(parts.box(0).extent(0) == rows);
            work(std::move(parts));
            break;
          }
          case 1:
            work(ctx.split(d, count, stf::blocked{0}));
            break;
          case 2:
            work(ctx.split(d, count, stf::blocked{1}));
            break;
          case 3:
            work(ctx.split(d, {2, static_cast<int>(count)}, data_place::device(n_pes - 1)));
            break;
          default:
            work(ctx.split(d, count, stf::halo{1}, data_place::host()));
        }
      }
      ctx.finalize();
      CHECK(x == expected);
    }
}

TEST_CASE("column-major parts with columns of their neighbours, and in three dimensions") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    std::vector<std::int64_t> x(5 * 6);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int64_t>(i * i);
    std::vector<std::int64_t> y(x.size(), -1);
    std::vector<std::int64_t> z(2 * 3 * 4, 0);
    context ctx(*m, {.backend = backend});
    auto dx = ctx.logical_data(columns<2>(x.data(), 5, 6));
    auto dy = ctx.logical_data(columns<2>(y.data(), 5, 6));
    auto dz = ctx.logical_data(columns<3>(z.data(), 2, 3, 4));
    auto u = ctx.split(dx, 3, stf::halo{1, true});
    auto v = ctx.split(dy, 3);
    for (int i = 0; i < 3; ++i) {
      CHECK(u.box_with_halo(i) == stf::box(index_range{0, 5}, index_range{2 * i - 1, 2 * i + 3}));
      ctx.parallel_for(exec_place::device(i % 2), v[i].shape(), u.with_halo(i), v[i].write())
              ->*STARLING_KERNEL(
                     index_t a, index_t b,
                     cuda::std::mdspan<const std::int64_t, cuda::std::dextents<index_t, 2>, cuda::std::layout_left>
                         from,
                     columns<2> to) {
        to(a, b) = from(a, b) + 1000 * from(a, b + 2);
      };
    }
    auto w = ctx.split(dz, {2, 1, 2});
    for (int i = 0; i < w.size(); ++i)
      ctx.parallel_for(exec_place::device(i % 2), w[i].shape(), w[i].rw())
              ->*STARLING_KERNEL(index_t a, index_t b, index_t c, columns<3> p) {
        p(a, b, c) = 1000 * i + 100 * a + 10 * b + c;
      };
    ctx.finalize();
    bool same = true;
    for (index_t a = 0; a < 5; ++a)
      for (index_t b = 0; b < 6; ++b) {
        const auto at = [&](index_t column) { return x[static_cast<std::size_t>(a + 5 * ((column + 6) % 6))]; };
        same = same && y[static_cast<std::size_t>(a + 5 * b)] == at(b - 1) + 1000 * at(b + 1);
      }
    CHECK(same);
    for (index_t a = 0; a < 2; ++a)
      for (index_t b = 0; b < 3; ++b)
        for (index_t c = 0; c < 4; ++c)
          CHECK(z[static_cast<std::size_t>(a + 2 * (b + 3 * c))] == 1000 * (2 * a + c / 2) + 10 * b + c % 2);
  }
}

TEST_CASE("parts of one and of three dimensions, and of parts") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    std::vector<int> a(3 * 4 * 5);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(i);
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(slice<int, 3>(a.data(), 3, 4, 5));
    {
      auto tiles = ctx.split(d, {2, 2, 3});
      CHECK(tiles.size() == 12);
      for (int i = 0; i < tiles.size(); ++i)
        ctx.parallel_for(exec_place::device(i % 2), tiles[i].shape(), tiles[i].rw())
                ->*STARLING_KERNEL(index_t, index_t, index_t, slice<int, 3> x) {
          (void)x;
        };
      // Each element is that of its place in the whole, and gets the number of its tile and of its half.
      for (int i = 0; i < tiles.size(); ++i) {
        auto halves = ctx.split(tiles[i], 2, stf::blocked{1});
        for (int h = 0; h < 2; ++h) {
          const stf::box<3> b = tiles.box(i);
          const index_t at[3] = {b.lower(0), b.lower(1) + halves.box(h).lower(1), b.lower(2)};
          ctx.parallel_for(exec_place::device((i + h) % 2), halves[h].shape(), halves[h].rw())
                  ->*STARLING_KERNEL(index_t p, index_t q, index_t r, slice<int, 3> x) {
            const auto number = static_cast<int>(((at[0] + p) * 4 + at[1] + q) * 5 + at[2] + r);
            x(p, q, r) = x(p, q, r) == number ? 1000 * (2 * i + h) + number : -1;
          };
        }
      }
    }
    auto line = ctx.logical_data(stf::shape_of<slice<int>>(7));
    auto three = ctx.split(line, 3);
    for (int i = 0; i < 3; ++i)
      ctx.parallel_for(exec_place::device(i % 2), three[i].shape(), three[i].write())
              ->*STARLING_KERNEL(index_t k, slice<int> x) {
        x(k) = 10 * i + static_cast<int>(k);
      };
    ctx.join(three);
    const slice<const int> whole = ctx.wait(line);
    const int wanted[7] = {0, 1, 2, 10, 11, 20, 21};
    for (int i = 0; i < 7; ++i) CHECK(whole(i) == wanted[i]);
    ctx.finalize();
    bool right = true;
    for (int i = 0; i < 60; ++i) {
      const int p = i / 20, q = i / 5 % 4, s = i % 5;
      const int tile = (p < 2 ? 0 : 6) + (q < 2 ? 0 : 3) + (s < 2 ? 0 : s < 4 ? 1 : 2);
      right = right && a[static_cast<std::size_t>(i)] == 1000 * (2 * tile + q % 2) + i;
    }
    CHECK(right);
  }
}

// Rows of an array that are apart, and a whole that lies over all devices.
TEST_CASE("a whole in the user's rows, and one over a grid") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    random r(3);
    grid_2d all(r, 8, 10);
    grid_2d expected = all;
    const strided_view<std::int64_t, 2> inner(all.values.data() + 11,
                                              {starling::view_extents<2>(6, 8), cuda::std::array<index_t, 2>{10, 1}});
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(inner);
    {
      auto parts = ctx.split(d, {3, 2});
      for (int i = 0; i < parts.size(); ++i) change(ctx, exec_place::device(i % 2), parts[i], parts.box(i).lower(0), i);
      ctx.join(parts);
      ctx.parallel_for(exec_place::all_devices(), d.shape(), d.rw())
              ->*STARLING_KERNEL(index_t i, index_t j, slice<std::int64_t, 2> x) {
        x(i, j) += 5;
      };
      auto again = ctx.split(d, 4);
      for (int i = 0; i < again.size(); ++i) change(ctx, exec_place::device(i % 2), again[i], again.box(i).lower(0), i);
    }
    ctx.finalize();
    for (index_t i = 0; i < 6; ++i)
      for (index_t j = 0; j < 8; ++j) {
        auto& x = expected.values[static_cast<std::size_t>((i + 1) * 10 + j + 1)];
        x = changed(x, 1000 * i + 2 * (i / 2) + j / 4 + 5);
        const index_t part = i < 4 ? i / 2 : i - 2;
        x = changed(x, 1000 * i + part);
      }
    CHECK(all.values == expected.values);
  }
}

}  // namespace
}  // namespace starling::test::parts_tests
