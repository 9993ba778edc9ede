#include "cg/compressed.hpp"

#include <algorithm>

#include "cg/in_parallel.hpp"

namespace starling::cg {

template <class T>
compressed_rows<T> compress_rows(const csr_view<T>& a, const halo& h, int pe, int workers) {
  const rows_of_pe& own = h.rows(pe);
  const index_t* starts = a.row_start + own.first;
  const index_t entries = starts[own.rows] - starts[0];
  compressed_rows<T> made;
  made.value.assign(a.value + starts[0], a.value + starts[own.rows]);
  made.column.resize(static_cast<std::size_t>(entries));
  in_parts(entries, workers, [&](index_range part) {
    for (index_t e = part.begin; e < part.end; ++e)
      made.column[static_cast<std::size_t>(e)] = h.local(pe, a.column[starts[0] + e]);
  });
  made.row_in_chunk.resize(static_cast<std::size_t>(own.rows));
  chunk open;
  const auto close = [&] {
    for (index_t e = open.start; e < open.start + open.entries && open.reads_halo == 0; ++e)
      open.reads_halo = own.owns(made.column[static_cast<std::size_t>(e)]) ? 0 : 1;
    if (open.rows > 0) made.chunks.push_back(open);
  };
  for (index_t row = 0; row < own.rows; ++row) {
    const index_t length = starts[row + 1] - starts[row];
    if (open.rows > 0 && (open.entries + length > chunk::most_entries || open.rows == chunk::most_rows)) {
      close();
      open = {};
    }
    if (open.rows == 0) open = {starts[row] - starts[0], 0, static_cast<std::int32_t>(row), 0, 0};
    made.row_in_chunk[static_cast<std::size_t>(row)] = static_cast<std::uint16_t>(open.entries);
    open.entries += static_cast<std::int32_t>(length);
    ++open.rows;
  }
  close();
  return made;
}

template compressed_rows<float> compress_rows(const csr_view<float>&, const halo&, int, int);
template compressed_rows<double> compress_rows(const csr_view<double>&, const halo&, int, int);

}  // namespace starling::cg
