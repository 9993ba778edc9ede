// for_each visits every element exactly once, whatever the extents and the number of threads.
#include "support/levels.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::loops_tests {
namespace {

constexpr int thread_counts[] = {32, 96, 256, 1024};

// Counts visits in a box of elements from -margin to end + margin, so that visits outside of the ranges show.
struct visits {
  static constexpr index_t margin = 8;
  sym<int> words;
  index_t rows, columns;

  STARLING_HD void count(const block& b, index_t z, index_t y, index_t x) const {
    const index_t at = ((z + margin) * rows + y + margin) * columns + x + margin;
    b.thread().atomic_fetch_add(words + at, 1, b.pe());
  }
};

class visit_map {
 public:
  visit_map(machine& m, index_range zs, index_range ys, index_range xs)
      : machine_(m), zs_(zs), ys_(ys), xs_(xs), words_(zeroed<int>(m, room(zs) * room(ys) * room(xs))) {}

  visits counter() const { return {words_.data(), room(ys_), room(xs_)}; }

  // Elements that were not visited as often as they should have been: once inside the ranges, never outside.
  index_t wrong() const {
    const std::vector<int> seen = read(machine_, words_, 0);
    index_t n = 0;
    std::size_t i = 0;
    for (index_t z = -visits::margin; z < zs_.end + visits::margin; ++z)
      for (index_t y = -visits::margin; y < ys_.end + visits::margin; ++y)
        for (index_t x = -visits::margin; x < xs_.end + visits::margin; ++x, ++i)
          n += seen.at(i) != (inside(zs_, z) && inside(ys_, y) && inside(xs_, x) ? 1 : 0);
    return n;
  }

 private:
  static index_t room(index_range r) { return r.end + 2 * visits::margin; }
  static bool inside(index_range r, index_t i) { return i >= r.begin && i < r.end; }

  machine& machine_;
  index_range zs_, ys_, xs_;
  symmetric_array<int> words_;
};

constexpr index_range one{0, 1};

TEST_CASE("for_each in one dimension, at every granularity") {
  auto m = test_machine(1);
  if (!m) return;
  for (const level l : all_levels)
    for (const int threads : thread_counts)
      for (const index_t n : {0, 1, 31, 33, 255, 256, 257, 1023, 2049}) {
        CAPTURE(l);
        CAPTURE(threads);
        CAPTURE(n);
        const visit_map map(*m, one, one, {0, n});
        const visits v = map.counter();
        auto k = STARLING_KERNEL(block & b) {
          at_level(b, l, [&](const auto& g) { g.for_each(n, [&](index_t x) { v.count(b, 0, 0, x); }); });
        };
        m->run(1, k, {.threads = threads});
        CHECK(map.wrong() == 0);
      }
}

TEST_CASE("for_each over a range starts and ends where the range does") {
  auto m = test_machine(1);
  if (!m) return;
  for (const index_range r : {index_range{3, 300}, {5, 5}, {7, 2}, {-6, 6}, {-8, -7}}) {
    CAPTURE(r.begin);
    CAPTURE(r.end);
    const visit_map map(*m, one, one, r);
    const visits v = map.counter();
    auto k = STARLING_KERNEL(block & b) {
      b.for_each(r, [&](index_t x) { v.count(b, 0, 0, x); });
    };
    m->run(1, k);
    CHECK(map.wrong() == 0);
  }
}

TEST_CASE("for_each in two dimensions") {
  auto m = test_machine(1);
  if (!m) return;
  const index_t shapes[][2] = {{1, 1}, {3, 5}, {0, 9}, {9, 0}, {7, 129}, {129, 7}, {1, 1000}, {1000, 1}, {33, 65}};
  for (const auto& extent : shapes)
    for (const int threads : thread_counts) {
      const index_t ny = extent[0];
      const index_t nx = extent[1];
      CAPTURE(threads);
      CAPTURE(ny);
      CAPTURE(nx);
      const visit_map map(*m, one, {0, ny}, {0, nx});
      const visits v = map.counter();
      auto k = STARLING_KERNEL(block & b) {
        b.for_each(ny, nx, [&](index_t y, index_t x) { v.count(b, 0, y, x); });
      };
      m->run(1, k, {.threads = threads});
      CHECK(map.wrong() == 0);
    }
}

TEST_CASE("for_each in three dimensions") {
  auto m = test_machine(1);
  if (!m) return;
  const index_t shapes[][3] = {{1, 1, 1}, {3, 5, 7},  {0, 4, 4},  {4, 0, 4},
                               {4, 4, 0}, {9, 1, 33}, {33, 9, 1}, {2, 65, 3}};
  for (const auto& extent : shapes)
    for (const int threads : thread_counts) {
      const index_t nz = extent[0];
      const index_t ny = extent[1];
      const index_t nx = extent[2];
      CAPTURE(threads);
      CAPTURE(nz);
      CAPTURE(ny);
      CAPTURE(nx);
      const visit_map map(*m, {0, nz}, {0, ny}, {0, nx});
      const visits v = map.counter();
      auto k = STARLING_KERNEL(block & b) {
        b.for_each(nz, ny, nx, [&](index_t z, index_t y, index_t x) { v.count(b, z, y, x); });
      };
      m->run(1, k, {.threads = threads});
      CHECK(map.wrong() == 0);
    }
}

TEST_CASE("for_each over ranges in two and three dimensions, at every granularity") {
  auto m = test_machine(1);
  if (!m) return;
  const index_range zs{-2, 3};
  const index_range ys{1, 6};
  const index_range xs{-1, 39};
  for (const level l : all_levels) {
    CAPTURE(l);
    const visit_map plane(*m, one, ys, xs);
    const visit_map box(*m, zs, ys, xs);
    const visits in_plane = plane.counter();
    const visits in_box = box.counter();
    auto k = STARLING_KERNEL(block & b) {
      at_level(b, l, [&](const auto& g) {
        g.for_each(ys, xs, [&](index_t y, index_t x) { in_plane.count(b, 0, y, x); });
        g.for_each(zs, ys, xs, [&](index_t z, index_t y, index_t x) { in_box.count(b, z, y, x); });
      });
    };
    m->run(1, k);
    CHECK(plane.wrong() == 0);
    CHECK(box.wrong() == 0);
  }
}

}  // namespace
}  // namespace starling::test::loops_tests
