// Cells of a row that a thread of a GPU loads and stores at once, and how rows are cut into them.
#pragma once

#include "starling/base/index.hpp"

namespace starling::stencil {

template <class T>
struct alignas(16) cell_vector {
  static constexpr int width = 16 / static_cast<int>(sizeof(T));
  T cell[width];
};

// Multiples of `width` around a range that may begin below 0.
constexpr int round_down(int n, int width) { return n - (n % width + width) % width; }

constexpr int clamp(int n, int least, int most) { return n < least ? least : n > most ? most : n; }

// A bit for each of n cells, set from `begin` up to `end`.
constexpr unsigned bits_between(int begin, int end, int n) {
  const int from = clamp(begin, 0, n);
  const int to = clamp(end, from, n);
  return (1u << to) - (1u << from);
}

// Vectors that hold so many cells of a row, of which `ghost` lie before the first that is a multiple of `width`.
constexpr index_t vectors_of_row(index_t cells, index_t ghost, int width) {
  const index_t before = ghost == 0 ? 0 : round_up(ghost, width);
  return ceil_div(cells - ghost, index_t{width}) + before / width;
}

}  // namespace starling::stencil
