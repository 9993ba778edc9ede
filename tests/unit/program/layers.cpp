// What blocks share out of the layers of a PE, in generated programs.
#include "starling/program/layers.hpp"

#include <doctest/doctest.h>

namespace starling::test::layers_tests {
namespace {

using generated::share_of_block;

TEST_CASE("blocks have all layers, in order, and those at the ends no more than others") {
  for (index_t n = 1; n < 70; ++n)
    for (index_t blocks = 1; blocks <= n; ++blocks) {
      CAPTURE(n);
      CAPTURE(blocks);
      index_t next = 0;
      for (index_t k = 0; k < blocks; ++k) {
        const index_range mine = share_of_block(n, blocks, k);
        CHECK(mine.begin == next);
        CHECK(mine.size() >= n / blocks);
        CHECK(mine.size() <= ceil_div(n, blocks));
        next = mine.end;
      }
      CHECK(next == n);
      if (n % blocks + 1 < blocks) {  // some, and not only one, have no more
        CHECK(share_of_block(n, blocks, 0).size() == n / blocks);
        CHECK(share_of_block(n, blocks, blocks - 1).size() == n / blocks);
      }
    }
}

}  // namespace
}  // namespace starling::test::layers_tests
