// The two ways in which a tile's off-diagonal products are made: from rows, or from diagonals.
#pragma once

#include "sparse/tile_product.hpp"
#include "starling/region/region.hpp"

namespace starling::jacobi {

template <class T>
struct row_products {
  sparse::matrix_data<T> rows;

  using working = sparse::tile_product<T>;
  STARLING_HD working begin(block& b) const { return {b, rows}; }
  STARLING_HD static void multiply(const working& w, const block&, const tile& t, index_t, const T* x, T* out) {
    w.template multiply<sparse::plus_times, sparse::entry_values::stored>(t.number, x, out);
  }
};

template <class T>
struct diagonal_products {
  sym<const T> value;  // [diagonals][pitch], of the PE's rows
  index_t pitch = 0;
  index_t size = 0;  // rows of the matrix
  int count = 0;
  sym<const std::int32_t> offset;  // [count]

  struct working {
    const diagonal_products* of;
  };
  STARLING_HD working begin(block&) const { return {this}; }
  STARLING_HD static void multiply(const working& w, const block& b, const tile& t, index_t first, const T* x, T* out) {
    const diagonal_products& d = *w.of;
    const T* value = d.value.on(b.pe());
    const std::int32_t* offset = d.offset.on(b.pe());
    b.for_each(t.range, [&](index_t i) {
      T sum{0};
      for (int k = 0; k < d.count; ++k) {
        const index_t j = i + offset[k];
        if (j >= 0 && j < d.size) sum += value[k * d.pitch + i - first] * x[j];
      }
      out[i - first] = sum;
    });
  }
};

}  // namespace starling::jacobi
