// Partitions: every coordinate has one owner, and part() and owner() agree; parts of parts too.
#include "starling/stf/partition.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "starling/stf/shape_of.hpp"
#include "support/random.hpp"
#include "support/stf/triangle.hpp"

namespace starling::test {
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

template <int Rank>
void check_all(const box<Rank>& s) {
  for (const index_t count : {1, 2, 3, 8, 50}) {
    for (int d = 0; d < Rank; ++d) check_partition(s, blocked{d}, count);
    check_partition(s, cyclic(), count);
    check_partition(s, tiled<1>(), count);
    check_partition(s, tiled<3>(), count);
    check_partition(s, tiled<32>(), count);
  }
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

TEST_CASE("the mapping of the paper's figure 7") {
  // Tiles of 32 rows, dealt to 2 devices.
  for (const index_t n : {100, 128})
    for (auto [i, j] : box(n, n)) {
      const bool same = tiled<32>().owner(coords<2>{{i, j}}, box(n, n), 2) == i / 32 % 2;
      if (!same) FAIL_CHECK("owner of " << i << ", " << j);
    }
}

}  // namespace
}  // namespace starling::test
