// The two ways in which the off-diagonal products of a tile's rows are made: from rows, all of a tile at once, or from
// diagonals, each when it is asked for.
#pragma once

#include "sparse/tile_product.hpp"
#include "starling/region/region.hpp"

namespace starling::jacobi {

template <class T>
struct row_products {
  static constexpr int rows_at_once = 4;  // of a thread
  static constexpr int least_blocks = 1;

  sparse::matrix_data<T> rows;
  sym<T> sum;  // of the PE's rows

  struct working {
    sparse::tile_product<T> product;
    T* sum_of;

    STARLING_HD void begin_tile(const tile& t, const T* x) const {
      product.template multiply<sparse::plus_times, sparse::entry_values::stored>(t.number, x, sum_of);
    }
    STARLING_HD T of_row(index_t, index_t row_of_pe, const T*) const { return sum_of[row_of_pe]; }
  };
  STARLING_HD working begin(block& b) const { return {{b, rows}, sum.on(b.pe())}; }
};

template <class T>
struct diagonal_products {
  // A row has many loads already; what more registers would keep on its way, more warps do better.
  static constexpr int rows_at_once = 1;
  static constexpr int least_blocks = 2;

  sym<const T> value;  // [diagonals][pitch], of the PE's rows
  index_t pitch = 0;
  index_t size = 0;  // rows of the matrix
  int count = 0;
  sym<const std::int32_t> offset;  // [count]

  struct working {
    const T* value;
    const std::int32_t* offset;  // in the block's shared memory
    index_t pitch, size;
    int count;

    STARLING_HD void begin_tile(const tile&, const T*) const {}
    // What several diagonals have is loaded before any of it is multiplied.
    STARLING_HD T of_row(index_t i, index_t row_of_pe, const T* x) const {
      constexpr int at_once = target::on_gpu ? 8 : 1;
      T sum{0};
      const T* of_row = value + row_of_pe;
      for (int first = 0; first < count; first += at_once, of_row += at_once * pitch) {
        T a[at_once], of_x[at_once];
        unrolled<at_once>([&](auto k) {
          const int d = first + k;
          const index_t j = d < count ? i + target::in_scratch(offset)[d] : -1;
          const bool inside = j >= 0 && j < size;
          a[k] = inside ? of_row[k * pitch] : T{0};
          of_x[k] = inside ? x[j] : T{0};
        });
        unrolled<at_once>([&](auto k) { sum += a[k] * of_x[k]; });
      }
      return sum;
    }
  };
  STARLING_HD working begin(block& b) const {
    auto* near = b.scratch<std::int32_t>(count);
    const std::int32_t* all = offset.on(b.pe());
    b.for_each(count, [&](index_t k) { near[k] = all[k]; });
    b.sync();
    return {target::in_memory(value.on(b.pe())), near, pitch, size, count};
  }
  std::size_t scratch_bytes() const { return static_cast<std::size_t>(count) * sizeof(std::int32_t) + 32; }
};

}  // namespace starling::jacobi
