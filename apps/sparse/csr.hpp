// Sparse matrices in the memory of the host, in compressed sparse rows: what a user hands in. Columns are 32-bit,
// positions 64-bit.
#pragma once

#include <cstdint>
#include <vector>

#include "starling/base/index.hpp"

namespace starling::sparse {

// Columns, and places in the vectors of a PE, have 32 bits.
inline constexpr index_t most_rows = index_t{1} << 30;

// Borrowed: row i has the entries row_start[i] to row_start[i + 1], of a column at most one, in any order. Without
// values, all entries are ones.
template <class T>
struct csr_view {
  index_t rows = 0;
  index_t columns = 0;
  const index_t* row_start = nullptr;    // [rows + 1]
  const std::int32_t* column = nullptr;  // [nonzeros]
  const T* value = nullptr;              // [nonzeros] or null

  index_t nonzeros() const { return rows > 0 ? row_start[rows] - row_start[0] : 0; }
};

// Owned.
template <class T>
struct csr {
  index_t columns = 0;
  std::vector<index_t> row_start = {0};
  std::vector<std::int32_t> column;
  std::vector<T> value;

  index_t rows() const { return static_cast<index_t>(row_start.size()) - 1; }
  csr_view<T> view() const { return {rows(), columns, row_start.data(), column.data(), value.data()}; }
};

}  // namespace starling::sparse
