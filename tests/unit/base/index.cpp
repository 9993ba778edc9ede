// Fair shares of a range, and rounding.
#include "starling/base/index.hpp"

#include <doctest/doctest.h>

namespace starling::test::index_tests {
namespace {

static_assert(share(10, 3, 0) == index_range{0, 4});
static_assert(share(10, 3, 1) == index_range{4, 7});
static_assert(share(10, 3, 2) == index_range{7, 10});
static_assert(ceil_div(10, 5) == 2 && ceil_div(11, 5) == 3 && ceil_div(0, 5) == 0);
static_assert(round_up(0, 16) == 0 && round_up(1, 16) == 16 && round_up(16, 16) == 16 && round_up(17, 16) == 32);

TEST_CASE("shares follow one another, cover the range, and differ by at most one") {
  for (index_t n = 0; n <= 40; ++n)
    for (index_t parts = 1; parts <= 13; ++parts) {
      CAPTURE(n);
      CAPTURE(parts);
      index_t end = 0;
      for (index_t i = 0; i < parts; ++i) {
        const index_range mine = share(n, parts, i);
        CHECK(mine.begin == end);
        CHECK(mine.size() >= n / parts);
        CHECK(mine.size() <= n / parts + 1);
        end = mine.end;
      }
      CHECK(end == n);
    }
}

TEST_CASE("shares of a range that needs 64 bits") {
  const index_t n = (index_t{1} << 40) + 1;
  CHECK(share(n, 2, 0) == index_range{0, (index_t{1} << 39) + 1});
  CHECK(share(n, 2, 1) == index_range{(index_t{1} << 39) + 1, n});
}

TEST_CASE("an index range knows its size and whether it is empty") {
  CHECK(index_range{3, 10}.size() == 7);
  CHECK_FALSE(index_range{3, 10}.empty());
  CHECK(index_range{3, 3}.empty());
  CHECK(index_range{4, 3}.empty());
  CHECK(index_range{}.empty());
  CHECK_FALSE(index_range{1, 2} == index_range{1, 3});
  CHECK_FALSE(index_range{0, 3} == index_range{1, 3});
}

}  // namespace
}  // namespace starling::test::index_tests
