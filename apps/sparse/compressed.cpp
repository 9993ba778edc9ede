#include "sparse/compressed.hpp"

#include <algorithm>

#include "sparse/in_parallel.hpp"
#include "sparse/row_pack.hpp"

namespace starling::sparse {

template <class T, class Columns>
compressed_rows<T> compress_rows(const csr_view<T>& a, const Columns& h, int pe, int workers, entry_values values) {
  const rows_of_pe& own = h.rows(pe);
  const index_t* starts = a.row_start + own.first;
  const index_t entries = starts[own.rows] - starts[0];
  compressed_rows<T> made;
  const auto room = static_cast<std::size_t>(entries) + row_block::most_entries;
  if (values == entry_values::stored) {
    made.value.reserve(room);
    made.value.assign(a.value + starts[0], a.value + starts[own.rows]);
    made.value.resize(room);
  }
  made.column.resize(room);
  in_parts(entries, workers, [&](index_range part) {
    for (index_t e = part.begin; e < part.end; ++e)
      made.column[static_cast<std::size_t>(e)] = h.local(pe, a.column[starts[0] + e]);
  });
  made.row_in_block.resize(static_cast<std::size_t>(own.rows) + 1);
  const auto length_of = [&](index_t row) { return starts[row + 1] - starts[row]; };
  row_block open;
  const auto close = [&] {
    if (open.entries == 0 && open.rows() == 0) return;
    const std::int32_t* columns = made.column.data() + open.start;
    if (std::any_of(columns, columns + open.entries, [&](std::int32_t c) { return h.comes_late(pe, c); }))
      open.rows_halo |= row_block::halo_bit;
    made.row_blocks.push_back(open);
    open = {};
  };
  const auto cut = [&](index_t row) {
    close();
    const index_t length = length_of(row);
    const auto pieces = static_cast<std::int32_t>(ceil_div(length, index_t{row_block::most_entries}));
    made.long_rows.push_back({static_cast<std::int32_t>(row), made.pieces, pieces});
    for (std::int32_t p = 0; p < pieces; ++p) {
      const index_range part = share(length, index_t{pieces}, index_t{p});
      open = {starts[row] - starts[0] + part.begin, made.pieces++, static_cast<std::uint16_t>(part.size()), 0};
      close();
    }
  };
  const auto add = [&](index_t row) {
    const index_t length = length_of(row);
    if (length > row_block::most_entries) return cut(row);
    if (open.entries + length > row_block::most_entries || open.rows() == row_block::most_rows) close();
    if (open.rows() == 0) open = {starts[row] - starts[0], static_cast<std::int32_t>(row), 0, 0};
    made.row_in_block[static_cast<std::size_t>(row)] = static_cast<std::uint16_t>(open.entries);
    open.entries = static_cast<std::uint16_t>(open.entries + length);
    ++open.rows_halo;
  };
  // Row blocks begin where a pack of rows does, as far as that goes: the rows of a block of the kernel begin there too.
  for (index_t row = 0; row < own.rows; row += pack_rows) {
    const index_t end = std::min(row + pack_rows, own.rows);
    const index_t length = starts[end] - starts[row];
    if (length <= row_block::most_entries && open.entries + length > row_block::most_entries) close();
    for (index_t one = row; one < end; ++one) add(one);
  }
  close();
  return made;
}

template compressed_rows<float> compress_rows(const csr_view<float>&, const halo&, int, int, entry_values);
template compressed_rows<double> compress_rows(const csr_view<double>&, const halo&, int, int, entry_values);
template compressed_rows<float> compress_rows(const csr_view<float>&, const whole_vector&, int, int, entry_values);
template compressed_rows<double> compress_rows(const csr_view<double>&, const whole_vector&, int, int, entry_values);

}  // namespace starling::sparse
