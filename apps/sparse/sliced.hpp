// Sliced ELLPACK on the host: builds what one PE stores. See slice in rows.hpp for the layout; with blocks of 3 x 3,
// value (r, c) of entry k of block row i is at 9 start + 32 (9 k + 3 r + c) + i.
#pragma once

#include <vector>

#include "sparse/csr.hpp"
#include "sparse/halo.hpp"
#include "sparse/whole_vector.hpp"

namespace starling::sparse {

// The slices of a PE's rows, without their entries.
struct slice_table {
  std::vector<slice> slices;
  index_t entries = 0;       // of all, padding included
  index_t longest_span = 0;  // largest offset of a column in its slice
};

// `side`: 1, or 3 for blocks of 3 x 3. Columns: halo or whole_vector.
template <class T, class Columns>
slice_table plan_slices(const csr_view<T>& a, const Columns& h, int pe, int side, int workers);

// The entries, in the order of the table. What is missing to full slices and blocks has the value `padding`.
template <class T, class Offset>
struct slice_entries {
  std::vector<T> value;
  std::vector<Offset> offset;
};
template <class T, class Offset, class Columns>
slice_entries<T, Offset> fill_slices(const csr_view<T>& a, const Columns& h, int pe, int side, const slice_table& table,
                                     T padding, int workers);

// Entries that slices would have for each entry of the matrix, from a sample of its rows; at least 1.
template <class T>
double sliced_padding(const csr_view<T>& a, int side);

}  // namespace starling::sparse
