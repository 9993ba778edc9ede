// One step of the cells of a row that lie in a thread's vector.
#pragma once

#include "starling/device/loops.hpp"
#include "stencil/core/cell_vector.hpp"
#include "stencil/core/relax.hpp"

namespace starling::stencil {

// v times the weight of the neighbours, where all of these have the same.
template <class T>
STARLING_HD cell_vector<T> weighted(const coefficients<T>& w, const cell_vector<T>& v) {
  cell_vector<T> p;
  unrolled<cell_vector<T>::width>([&](auto k) { p.cell[k] = w.low[1] * v.cell[k]; });
  return p;
}

// In two dimensions, in the order of relaxed(). Products: all neighbours have the same weight, and all but `centre` are
// products with it already; then a cell is multiplied once for all its neighbours. `here` is the row of the cells
// itself, between `west` and `east`.
template <bool Products, class T>
STARLING_HD cell_vector<T> relaxed_row(const coefficients<T>& w, const cell_vector<T>& centre,
                                       const cell_vector<T>& north, const cell_vector<T>& south,
                                       const cell_vector<T>& here, T west, T east) {
  constexpr int width = cell_vector<T>::width;
  cell_vector<T> made;
  unrolled<width>([&](auto cell) {
    constexpr int k = decltype(cell)::value;
    const T before = k > 0 ? here.cell[k > 0 ? k - 1 : 0] : west;
    const T next = k + 1 < width ? here.cell[k + 1 < width ? k + 1 : 0] : east;
    if constexpr (Products)
      made.cell[k] = w.centre * centre.cell[k] + north.cell[k] + south.cell[k] + before + next;
    else
      made.cell[k] = relaxed<2>(w, surroundings<T>{centre.cell[k], 0, 0, north.cell[k], south.cell[k], before, next});
  });
  return made;
}

}  // namespace starling::stencil
