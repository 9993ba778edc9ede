// How columns are numbered where every PE has the whole vector: as in the matrix. What halo is where a PE has its part.
#pragma once

#include <vector>

#include "sparse/rows.hpp"

namespace starling::sparse {

class whole_vector {
 public:
  explicit whole_vector(const std::vector<index_t>& first_rows) {
    for (std::size_t pe = 0; pe + 1 < first_rows.size(); ++pe) {
      rows_.emplace_back();
      rows_.back().first = first_rows[pe];
      rows_.back().rows = first_rows[pe + 1] - first_rows[pe];
    }
  }

  const rows_of_pe& rows(int pe) const { return rows_[static_cast<std::size_t>(pe)]; }
  std::int32_t local(int, index_t column) const { return static_cast<std::int32_t>(column); }
  index_t own_column(int pe, index_t row) const { return rows(pe).first + row; }
  bool comes_late(int, index_t) const { return false; }

 private:
  std::vector<rows_of_pe> rows_;
};

}  // namespace starling::sparse
