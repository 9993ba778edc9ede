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
  std::int32_t lowest = 0, highest = 0;  // of the offsets and 0
  sym<const std::int32_t> offset;        // [count]

  struct working {
    const T* value;
    const std::int32_t* offset;  // in the block's shared memory
    index_t pitch, size;
    int count;
    std::int32_t lowest, highest;

    STARLING_HD void begin_tile(const tile&, const T*) const {}
    STARLING_HD T of_row(index_t i, index_t row_of_pe, const T* x) const {
      const T* of_row = value + row_of_pe;
      T sum{0};
      if (i + lowest >= 0 && i + highest < size) {
        constexpr int at_once = 8;
        for (int first = 0; first < count; first += at_once, of_row += at_once * pitch)
          with_constant<1, at_once>(count - first < at_once ? count - first : at_once,
                                    [&](auto n) { sum = with_next<n>(sum, first, of_row, x + i); });
      } else {
        for (int d = 0; d < count; ++d, of_row += pitch) {
          const index_t j = i + target::in_scratch(offset)[d];
          if (j >= 0 && j < size) sum += *of_row * x[j];
        }
      }
      return sum;
    }

   private:
    // The sum and the products of N diagonals from `first` on. All of their elements are loaded before any is
    // multiplied, and none is tested: tests would be most of the instructions.
    template <int N>
    STARLING_HD T with_next(T sum, int first, const T* of_row, const T* of_x) const {
      T a[N], b[N];
      unrolled<N>([&](auto k) {
        a[k] = of_row[k * pitch];
        b[k] = of_x[target::in_scratch(offset)[first + k]];
      });
      unrolled<N>([&](auto k) { sum += a[k] * b[k]; });
      return sum;
    }
  };
  STARLING_HD working begin(block& b) const {
    auto* near = b.scratch<std::int32_t>(count);
    const std::int32_t* all = offset.on(b.pe());
    b.for_each(count, [&](index_t k) { near[k] = all[k]; });
    b.sync();
    return {target::in_memory(value.on(b.pe())), near, pitch, size, count, lowest, highest};
  }
  static std::size_t scratch_bytes(int diagonals) {
    return static_cast<std::size_t>(diagonals) * sizeof(std::int32_t) + 32;
  }
};

}  // namespace starling::jacobi
