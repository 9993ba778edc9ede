// The product of a block's rows with a vector, on the device. The vector lies in memory in the PE's numbering of
// columns.
#pragma once

#include "sparse/row_block_product.hpp"
#include "sparse/slice_product.hpp"

namespace starling::sparse {

// out[i] = what C makes of row i and x, for the rows of the plan in the parts named, but for the rows in pieces. Every
// thread of the block calls it; no barrier. Out of line, since there are several calls and much of it; so what it is
// given must not be an object of a thread's own, whose address it would take.
//
// C says what is computed, plus_times: (A x)[i]; Values, whether entries have values. Those without are compressed.
template <class C = plus_times, entry_values Values = entry_values::stored, class T>
__attribute__((noinline)) STARLING_HD void multiply(thread t, const block_rows<T>& m, const block_plan& plan,
                                                    const T* x, T* out, which_parts which) {
  const warp w(t);
  if constexpr (Values == entry_values::ones) {
    detail::multiply_row_blocks<C, Values>(w, m, plan, x, out, which);
  } else {
    if (m.a.how == storage::compressed) return detail::multiply_row_blocks<C, Values>(w, m, plan, x, out, which);
    if (m.a.how == storage::sliced_3x3) {
      if (m.a.short_offsets) return detail::multiply_slices<3, C>(w, m, plan, m.a.offset_16.on(m.pe), x, out, which);
      return detail::multiply_slices<3, C>(w, m, plan, m.a.offset_32.on(m.pe), x, out, which);
    }
    if (m.a.short_offsets) return detail::multiply_slices<1, C>(w, m, plan, m.a.offset_16.on(m.pe), x, out, which);
    detail::multiply_slices<1, C>(w, m, plan, m.a.offset_32.on(m.pe), x, out, which);
  }
}

// The plan's rows in pieces, after a barrier behind their products: sums of the pieces, in order. A few lanes have a
// row, so that many rows, which wait for memory, are summed at once.
template <class C = plus_times, class T>
STARLING_HD void sum_pieces(thread t, const block_rows<T>& m, const block_plan& plan, T* out) {
  const warp w(t);
  const int lanes = target::on_gpu ? 8 : 1;
  const int per_warp = w.members() / lanes;
  const long_row* rows = m.a.long_rows.on(m.pe) + plan.first_long_row;
  const int n = static_cast<int>(plan.long_rows);
  for (int first = w.rank() * per_warp; first < n; first += w.count() * per_warp) {
    const int i = first + w.member() / lanes;
    const long_row row = rows[i < n ? i : n - 1];
    const T* pieces = m.a.piece_sums.on(m.pe) + row.first_piece;
    T sum = C::template none<T>();
    for (int p = w.member() % lanes; p < row.pieces; p += lanes) sum = C::join(sum, pieces[p]);
    sum = detail::sum_of_lanes<C>(sum, lanes);
    if (i < n && w.member() % lanes == 0) out[row.row - plan.first_row] = sum;
  }
}

}  // namespace starling::sparse
