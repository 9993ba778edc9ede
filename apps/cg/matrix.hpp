// A matrix on a machine: chooses the storage, deals the rows, and owns the symmetric memory that kernels read.
#pragma once

#include "cg/csr.hpp"
#include "cg/halo.hpp"
#include "cg/rows.hpp"
#include "cg/sliced.hpp"
#include "cg/solver.hpp"
#include "starling/machine/machine.hpp"

namespace starling::cg {

template <class T>
class matrix {
 public:
  // Throws argument_error for options that do not fit the matrix, memory_error when it does not fit.
  matrix(machine& m, const csr_view<T>& a, const matrix_options& options);

  const matrix_facts& facts() const { return facts_; }
  const rows_of_pe& rows(int pe) const { return own_[static_cast<std::size_t>(pe)]; }
  // By PE: those with which it exchanges values of a vector, in order.
  const std::vector<std::vector<int>>& neighbours() const { return neighbours_; }
  // The largest of any PE.
  index_t most_rows() const { return most_rows_; }
  index_t most_columns() const { return most_columns_; }
  index_t most_halo() const { return most_halo_; }

  // Deals each PE's rows to `blocks` blocks, boundaries at multiples of `unit` rows where there are any, and returns
  // what kernels need. The memory is this object's.
  matrix_data<T> dealt_to(int blocks, index_t unit);

  // Bytes of entries that the largest block of the last dealing has.
  std::size_t most_block_bytes() const { return most_block_bytes_; }
  index_t most_block_rows() const { return most_block_rows_; }
  index_t most_block_parts() const { return most_block_parts_; }

 private:
  // What a PE's blocks are dealt: slices or chunks.
  struct part {
    index_t first_row;
    index_t entries;  // stored
    bool long_row;
    index_range rows_read{};   // own rows whose values it reads
    index_range boxes_read{};  // values of other PEs
  };

  void choose_storage(const csr_view<T>& a, const matrix_options& options);
  void store_slices(const csr_view<T>& a, const halo& h);
  template <class Offset>
  void fill(const csr_view<T>& a, const halo& h, const std::vector<slice_table>& tables,
            symmetric_array<Offset>& offsets);
  void store_compressed(const csr_view<T>& a, const halo& h);
  void store_halo(const halo& h);
  void note_reach(const csr_view<T>& a, const halo& h);
  std::vector<block_plan> plan_blocks(int pe, int blocks, index_t unit) const;
  void deal_boxes(int pe, std::vector<block_plan>& plans) const;
  index_range boxes_read(int pe, const block_plan& plan) const;
  void find_peers(int pe, std::vector<block_plan>& plans) const;
  int side() const { return facts_.how == storage::sliced_3x3 ? 3 : 1; }
  index_t entry_bytes() const;
  template <class U>
  symmetric_array<U> to_devices(const std::vector<std::vector<U>>& by_pe);

  machine& machine_;
  matrix_facts facts_;
  std::vector<rows_of_pe> own_;
  std::vector<std::vector<part>> parts_;  // by PE
  std::vector<std::vector<std::int32_t>> send_rows_;
  std::vector<std::vector<std::int32_t>> senders_of_;
  std::vector<std::vector<int>> neighbours_;
  index_t most_rows_ = 0, most_columns_ = 0, most_halo_ = 0;
  std::size_t most_block_bytes_ = 0;
  index_t most_block_rows_ = 0;
  index_t most_block_parts_ = 0;
  int dealt_blocks_ = 0;
  index_t dealt_unit_ = 0;

  symmetric_array<rows_of_pe> own_on_pes_;
  symmetric_array<T> values_;
  symmetric_array<std::uint16_t> offsets_16_;
  symmetric_array<std::int32_t> offsets_32_;
  symmetric_array<slice> slices_;
  symmetric_array<chunk> chunks_;
  symmetric_array<std::uint16_t> row_in_chunk_;
  symmetric_array<send_entry> sends_;
  symmetric_array<block_plan> plans_;
};

}  // namespace starling::cg
