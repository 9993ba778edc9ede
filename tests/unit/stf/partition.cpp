// Partitions: every coordinate has one owner, and part() and owner() agree; parts of parts too.
#include "starling/stf/partition_grid.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "starling/stf/shape_of.hpp"
#include "support/random.hpp"
#include "support/stf/triangle.hpp"

namespace starling::test::partition_tests {
namespace {

using namespace stf;

static_assert(shape_like<strided<box<2>>> && shape_like<tiles_of<3>> && shape_like<triangle>);
static_assert(std::is_same_v<decltype(blocked().part(box(4, 4), 0, 2)), box<2>>);
// Parts of parts refer to the same whole: no tower of types.
static_assert(std::is_same_v<decltype(cyclic().part(cyclic().part(box(9), 0, 2), 0, 2)), strided<box<1>>>);

template <class Shape, class Partitioner>
void check_partition(const Shape& s, const Partitioner& p, index_t count) {
  CAPTURE(count);
  std::vector<int> seen(static_cast<std::size_t>(s.size()), 0);
  index_t wrong_owner = 0;
  index_t wrong_coords = 0;
  for (index_t which = 0; which < count; ++which) {
    const auto part = p.part(s, which, count);
    index_t i = 0;
    for (const auto c : part) {
      wrong_coords += !(part.index_to_coords(i) == c);
      if constexpr (invertible_shape<decltype(part)>) wrong_coords += part.coords_to_index(c) != i;
      wrong_owner += p.owner(c, s, count) != which;
      ++seen.at(static_cast<std::size_t>(s.coords_to_index(c)));
      ++i;
    }
    CHECK(i == part.size());
    if constexpr (requires { part.pieces(); }) {
      i = 0;
      for (index_t k = 0; k < part.pieces(); ++k)
        for (const auto c : part.piece(k)) wrong_coords += !(part.index_to_coords(i++) == c);
      CHECK(i == part.size());
    }
  }
  CHECK(wrong_coords == 0);
  CHECK(wrong_owner == 0);
  CHECK(std::vector<int>(seen.size(), 1) == seen);
}

template <class Shape>
void check_all_of(const Shape& s) {
  for (const index_t count : {1, 2, 3, 8, 50}) {
    for (int d = 0; d < Shape::rank(); ++d) check_partition(s, blocked{d}, count);
    check_partition(s, blocked(), count);
    check_partition(s, cyclic(), count);
    check_partition(s, tiled<1>(), count);
    check_partition(s, tiled<3>(), count);
    check_partition(s, tiled<32>(), count);
  }
}

template <int Rank>
void check_all(const box<Rank>& s) {
  check_all_of(s);
  check_all_of(column_box<Rank>(s));
}

TEST_CASE("partitions of boxes cover every coordinate once") {
  random r(23);
  INFO("STARLING_TEST_SEED=", r.seed);
  for (const index_t n : {0, 1, 3, 17, 100}) check_all(box(n));
  for (int k = 0; k < 15; ++k) {
    index_range e[4];
    for (index_range& x : e) {
      x.begin = r.below(9) - 4;
      x.end = x.begin + r.below(8);
    }
    check_all(box(e[0]));
    check_all(box(e[0], e[1]));
    check_all(box(e[0], e[1], e[2]));
    check_all(box(e));
  }
}

template <int Rank>
using columns = cuda::std::mdspan<double, cuda::std::dextents<index_t, Rank>, cuda::std::layout_left>;
static_assert(std::is_same_v<decltype(blocked().part(shape_of<columns<2>>(4, 4), 0, 2)), column_box<2>>);
static_assert(std::is_same_v<decltype(blocked().part(shape_of<columns<1>>(4), 0, 2)), box<1>>);

// What is not told a dimension cuts the slowest, so that parts lie in one piece.
TEST_CASE("column-major shapes are numbered and cut in the order of memory") {
  const shape_of<columns<3>> s(5, 7, 9);
  const auto at = s.view(nullptr).mapping();
  index_t wrong = 0;
  index_t i = 0;
  for (const auto c : s) {
    wrong += at(c[0], c[1], c[2]) != i || !(s.index_to_coords(i) == c) || s.coords_to_index(c) != i;
    ++i;
  }
  CHECK(i == 5 * 7 * 9);
  CHECK(wrong == 0);
  CHECK(blocked().part(s, 1, 2) == box(index_range{0, 5}, index_range{0, 7}, index_range{5, 9}));
  CHECK(blocked{0}.part(s, 1, 2) == box(index_range{3, 5}, index_range{0, 7}, index_range{0, 9}));
  CHECK(tiled<4>().part(s, 1, 2).piece(0) == box(index_range{0, 5}, index_range{0, 7}, index_range{4, 8}));
  CHECK(blocked().part(box(5, 7), 0, 2) == box(3, 7));
}

TEST_CASE("partitions of a user's shape and of parts") {
  for (const index_t count : {1, 2, 5, 40}) {
    check_partition(triangle{9}, blocked(), count);
    check_partition(triangle{9}, cyclic(), count);
    check_partition(cyclic().part(box(7, 9), 1, 3), blocked(), count);
    check_partition(cyclic().part(box(7, 9), 1, 3), cyclic(), count);
    check_partition(blocked{1}.part(box(7, 9), 1, 3), cyclic(), count);
    check_partition(tiled<2>().part(box(13, 5), 1, 3), cyclic(), count);
    check_partition(tiled<2>().part(box(13, 5), 1, 3), blocked(), count);
    check_partition(cyclic().part(triangle{8}, 1, 2), cyclic(), count);
    check_partition(shape_of<slice<double, 2>>(6, 7), cyclic(), count);
  }
}

template <class Box>
void check_grids(const Box& s) {
  for (const int n : {1, 2, 5})
    for (const int k : {1, 3}) {
      check_partition(s, blocked_grid{n, k}, n * k);
      check_partition(s, tiled_grid<1, 1>{n, k}, n * k);
      check_partition(s, tiled_grid<3, 1>{n, k}, n * k);
      check_partition(s, tiled_grid<2, 5>{n, k}, n * k);
    }
}

TEST_CASE("partitions over a grid of owners cover every coordinate once") {
  random r(24);
  INFO("STARLING_TEST_SEED=", r.seed);
  for (int k = 0; k < 10; ++k) {
    index_range e[3];
    for (index_range& x : e) {
      x.begin = r.below(9) - 4;
      x.end = x.begin + r.below(14);
    }
    check_grids(box(e[0], e[1]));
    check_grids(column_box<2>(box(e[0], e[1])));
    check_partition(box(e[0]), blocked_grid{3}, 3);
    check_partition(box(e), blocked_grid{2, 1, 3}, 6);
    check_partition(box(e), tiled_grid<2, 1, 3>{2, 2, 2}, 8);
    check_partition(tiled_grid<2, 3>{2, 2}.part(box(e[0], e[1]), 1, 4), cyclic(), 3);
    check_partition(tiled_grid<2, 3>{2, 2}.part(box(e[0], e[1]), 2, 4), blocked(), 3);
  }
  // One owner has everything.
  check_partition(box(5, 7), blocked_grid{2, 2}, 1);
  check_partition(box(5, 7), tiled_grid<2, 2>{2, 2}, 1);
  // Owners are numbered row by row.
  CHECK(blocked_grid{2, 2}.part(box(4, 6), 1, 4) == box({0, 2}, {3, 6}));
  CHECK(blocked_grid{2, 2}.part(box(4, 6), 2, 4) == box({2, 4}, {0, 3}));
  CHECK(tiled_grid<2, 2>{2, 2}.owner(coords<2>{{5, 2}}, box(9, 9), 4) == 1);
  CHECK(tiled_grid<2, 2>{2, 2}.owner(coords<2>{{2, 5}}, box(9, 9), 4) == 2);
  CHECK(column_box<2>(box({2, 4}, {0, 3})) == blocked_grid{2, 2}.part(column_box<2>(box(4, 6)), 2, 4));
}

TEST_CASE("the mapping of the paper's figure 7") {
  // Tiles of 32 rows, for 2 devices in turn.
  for (const index_t n : {100, 128})
    for (auto [i, j] : box(n, n)) {
      const bool same = tiled<32>().owner(coords<2>{{i, j}}, box(n, n), 2) == i / 32 % 2;
      if (!same) FAIL_CHECK("owner of " << i << ", " << j);
    }
}

}  // namespace
}  // namespace starling::test::partition_tests
