// What a block has of the matrix in a product, as the products with slices and with row blocks read it. Plain data.
#pragma once

#include "sparse/rows.hpp"

namespace starling::sparse {

// What a block works on in each product: its part of the matrix, in its shared memory as far as it is kept there.
template <class T>
struct block_rows {
  matrix_data<T> a;
  block_plan plan;
  rows_of_pe own;
  int pe = 0;
  const T* kept_value = nullptr;  // of the first `kept` slices
  const void* kept_offset = nullptr;
  index_t kept = 0;
  const slice* kept_slices = nullptr;  // of all
  T* row_buffer = nullptr;             // row block::most_entries for each warp
};

// Parts of a block's rows, by whether they read values of other PEs.
enum class which_parts { all, own, halo };
constexpr bool wanted(which_parts which, bool reads_halo) {
  return which == which_parts::all || (which == which_parts::halo) == reads_halo;
}

}  // namespace starling::sparse
