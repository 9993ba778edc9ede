// Shapes and slices on the host: every coordinate once, in row-major order, by number, by iterator and at random.
#include "starling/stf/shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

#include "starling/stf/shape_of.hpp"
#include "starling/stf/slice.hpp"
#include "support/random.hpp"

namespace starling::test::shape_tests {
namespace {

using namespace stf;

static_assert(shape_like<box<1>> && shape_like<box<4>> && invertible_shape<box<3>>);
static_assert(shape_like<shape_of<slice<double, 2>>> && shape_like<shape_of<scalar_view<int>>>);
static_assert(std::random_access_iterator<box<1>::iterator> && std::random_access_iterator<box<3>::iterator>);
static_assert(std::sized_sentinel_for<box<2>::iterator, box<2>::iterator>);
static_assert(std::is_trivially_copyable_v<box<4>> && std::is_trivially_copyable_v<slice<double, 3>>);
static_assert(std::is_convertible_v<slice<double, 2>, slice<const double, 2>>);
static_assert(!std::is_convertible_v<slice<const double>, slice<double>>);
static_assert(std::is_convertible_v<scalar_view<int>, scalar_view<const int>>);
static_assert(!std::is_convertible_v<scalar_view<const int>, scalar_view<int>>);
static_assert(box(5).size() == 5 && box(2, 3).rank() == 2 && box(std::size_t{7}, 1, 2).size() == 14);

// All coordinates by nested loops.
template <int Rank>
std::vector<coords<Rank>> expected(const box<Rank>& b) {
  std::vector<coords<Rank>> all;
  for (int d = 0; d < Rank; ++d)
    if (b.extent(d) == 0) return all;
  coords<Rank> c{};
  for (int d = 0; d < Rank; ++d) c[d] = b.lower(d);
  while (true) {
    all.push_back(c);
    int d = Rank - 1;
    while (d >= 0 && ++c[d] == b.upper(d)) c[d] = b.lower(d), --d;
    if (d < 0) return all;
  }
}

template <int Rank>
void check_box(const box<Rank>& b, random& r) {
  const auto all = expected(b);
  REQUIRE(b.size() == static_cast<index_t>(all.size()));
  CHECK(std::equal(b.begin(), b.end(), all.begin(), all.end()));
  CHECK(b.end() - b.begin() == b.size());
  index_t wrong = 0;
  for (index_t i = 0; i < b.size(); ++i) {
    const auto c = all[static_cast<std::size_t>(i)];
    wrong += !(b.index_to_coords(i) == c) + (b.coords_to_index(c) != i) + !b.contains(c);
  }
  CHECK(wrong == 0);
  if (b.size() == 0) return;
  auto it = b.begin();
  for (int k = 0; k < 50; ++k) {
    const index_t to = r.below(b.size());
    it += to - (it - b.begin());
    wrong += !(*it == all[static_cast<std::size_t>(to)]) + !(b.begin()[to] == all[static_cast<std::size_t>(to)]);
    if (to + 1 < b.size()) {
      ++it;
      wrong += !(*it == all[static_cast<std::size_t>(to + 1)]);
    }
    --it;
  }
  CHECK(wrong == 0);
}

TEST_CASE("boxes of odd sizes visit every coordinate once, in row-major order") {
  random r(11);
  INFO("STARLING_TEST_SEED=", r.seed);
  for (const index_t n : {0, 1, 2, 7, 64}) {
    check_box(box(n), r);
    check_box(box(index_range{-3, n}), r);
    for (const index_t m : {0, 1, 5}) {
      check_box(box(n, m), r);
      check_box(box({{-n, n}, {3, 3 + m}}), r);
      for (const index_t k : {0, 1, 3}) {
        check_box(box(n, m, k), r);
        check_box(box(k, n, 2, m), r);
      }
    }
  }
  for (int i = 0; i < 200; ++i) {
    index_range e[4];
    for (index_range& x : e) {
      x.begin = r.below(9) - 4;
      x.end = x.begin + r.below(6);
    }
    check_box(box(e), r);
  }
}

TEST_CASE("structured bindings take a coordinate apart") {
  index_t sum = 0;
  for (auto [i, j] : box(3, 4)) sum += 10 * i + j;
  CHECK(sum == 10 * (0 + 1 + 2) * 4 + 3 * (0 + 1 + 2 + 3));
  for (auto [i] : box(index_range{5, 6})) CHECK(i == 5);
}

TEST_CASE("boxes far beyond 32 bits") {
  const index_t side = index_t{1} << 31;
  const box<2> b(side, 1000);
  CHECK(b.size() == side * 1000);
  const coords<2> last = b.index_to_coords(b.size() - 1);
  CHECK(last == coords<2>{{side - 1, 999}});
  auto it = b.begin() + (b.size() - 2);
  ++it;
  CHECK(*it == last);
}

TEST_CASE("the shape of a slice, and the data that a shape describes") {
  std::array<int, 24> memory{};
  const slice<int, 3> s(memory.data(), 2, 3, 4);
  CHECK(stf::shape(s) == box(2, 3, 4));
  const shape_of<slice<int, 3>> described(s);
  CHECK(described.bytes() == sizeof memory);
  CHECK(described.extents() == s.extents());
  for (auto [i, j, k] : described) described.view(memory.data())(i, j, k) = static_cast<int>(100 * i + 10 * j + k);
  CHECK(memory[23] == 123);
  CHECK(memory[4] == 10);
  const shape_of<slice<const int>> line(24);
  CHECK(line.view(memory.data()).extent(0) == 24);
  CHECK(stf::shape(described) == described);

  int x = 3;
  const scalar_view<int> one(&x);
  *one += 4;
  CHECK(*scalar_view<const int>(one) == 7);
  CHECK(shape_of<scalar_view<int>>().bytes() == sizeof x);
  CHECK(shape_of<scalar_view<int>>().view(&x).get() == &x);
}

TEST_CASE("boxes between bounds of any integral types") {
  const std::size_t n = 10;
  const int m = 7;
  CHECK(box({1, n - 1}) == box(index_range{1, 9}));
  CHECK(box({1, n - 1}, {-2, m}) == box(index_range{1, 9}, index_range{-2, 7}));
  CHECK(box({0, 2}, {1, 3}, {2, 5}).size() == 12);
  CHECK(box({0, 2}, {1, 3}, {2, 5}, {-1, 1}).upper(3) == 1);
  // One pair of braces more means the same.
  CHECK(box({{1, 9}, {-2, m}}) == box({1, n - 1}, {-2, m}));
  CHECK(box({{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}}).rank() == 5);
  CHECK(box({4, 4}).size() == 0);
}

TEST_CASE("the inner of a shape") {
  CHECK(inner(box(10), 1) == box({1, 9}));
  CHECK(inner(box({-3, 7}, {2, 9}), 2) == box({-1, 5}, {4, 7}));
  CHECK(inner(box(4, 5), 0) == box(4, 5));
  CHECK(inner(shape_of<slice<int, 2>>(6, 5), 1) == box({1, 5}, {1, 4}));
  // Nothing has so many on both sides.
  for (const index_t n : {2, 3, 100}) CHECK(inner(box(4, 9), n).size() == 0);
  CHECK(inner(box(5), std::numeric_limits<index_t>::max()).size() == 0);
  CHECK(inner(box(0), 0).size() == 0);
  const column_box<2> columns(box(6, 5));
  const auto within = inner(columns, 1);
  static_assert(std::is_same_v<decltype(within), const column_box<2>>);
  CHECK(within.size() == 12);
  CHECK(within.index_to_coords(1) == coords<2>{{2, 1}});
}

}  // namespace
}  // namespace starling::test::shape_tests
