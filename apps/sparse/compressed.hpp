// Compressed rows on the host: the row blocks of one PE's rows, its columns and values. See row block in rows.hpp.
#pragma once

#include <vector>

#include "sparse/csr.hpp"
#include "sparse/halo.hpp"
#include "sparse/whole_vector.hpp"

namespace starling::sparse {

// A warp that has less than a whole row block to do reads on: behind the last entry and row there are as many that it
// may read, all zero.
template <class T>
struct compressed_rows {
  std::vector<row_block> row_blocks;
  std::vector<std::uint16_t> row_in_block;  // [rows + 1]
  std::vector<long_row> long_rows;
  std::int32_t pieces = 0;           // of all of them
  std::vector<std::int32_t> column;  // [entries + row block::most_entries]
  std::vector<T> value;              // the same; empty for a matrix without values
};

// Columns: halo or whole_vector.
template <class T, class Columns>
compressed_rows<T> compress_rows(const csr_view<T>& a, const Columns& h, int pe, int workers,
                                 entry_values values = entry_values::stored);

}  // namespace starling::sparse
