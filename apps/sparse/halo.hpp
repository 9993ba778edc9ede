// Which columns a PE needs from others, how it numbers its columns, and what it sends to whom. On the host, once for a
// matrix.
#pragma once

#include <vector>

#include "sparse/csr.hpp"
#include "sparse/rows.hpp"

namespace starling::sparse {

class halo {
 public:
  // `unit`: columns that are always needed together (3 with blocks of 3 x 3).
  template <class T>
  halo(const csr_view<T>& a, const std::vector<index_t>& first_rows, index_t unit);

  int n_pes() const { return static_cast<int>(rows_.size()); }
  const rows_of_pe& rows(int pe) const { return rows_[static_cast<std::size_t>(pe)]; }
  // By row.
  const std::vector<send_entry>& sends(int pe) const { return sends_[static_cast<std::size_t>(pe)]; }
  // The PE that each value of the halo comes from.
  const std::vector<std::int32_t>& senders(int pe) const { return senders_[static_cast<std::size_t>(pe)]; }

  // The PE's number for a column of the whole matrix that its rows touch.
  std::int32_t local(int pe, index_t column) const;
  // The number of the column of one of the PE's own rows.
  index_t own_column(int pe, index_t row) const { return rows(pe).first_own() + row; }
  // Whether a column, by the PE's number, is of a row of another PE.
  bool comes_late(int pe, index_t column) const { return !rows(pe).owns(column); }

 private:
  void list_sends();
  int owner(index_t row) const;

  std::vector<index_t> first_rows_;
  std::vector<rows_of_pe> rows_;
  std::vector<std::vector<index_t>> columns_;  // by PE: the halo's columns in the whole matrix, ascending
  std::vector<std::vector<std::int32_t>> senders_;
  std::vector<std::vector<send_entry>> sends_;
};

}  // namespace starling::sparse
