// A shape that a user might add: the pairs (i, j) with j <= i < n. Its size is unsigned, as that of containers.
#pragma once

#include <cstddef>

#include "starling/stf/shape.hpp"

namespace starling::test {

struct triangle {
  index_t n = 0;

  using coords_t = stf::coords<2>;
  STARLING_HD static constexpr int rank() { return 2; }
  STARLING_HD constexpr std::size_t size() const { return static_cast<std::size_t>(n * (n + 1) / 2); }
  STARLING_HD constexpr coords_t index_to_coords(index_t k) const {
    index_t i = 0;
    while ((i + 1) * (i + 2) / 2 <= k) ++i;
    return {{i, k - i * (i + 1) / 2}};
  }
  STARLING_HD constexpr index_t coords_to_index(const coords_t& c) const { return c[0] * (c[0] + 1) / 2 + c[1]; }
};

}  // namespace starling::test
