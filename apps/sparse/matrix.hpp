// A matrix on a machine: chooses the storage, partitions the rows, and owns the symmetric memory that kernels read.
#pragma once

#include <list>

#include "sparse/block_plans.hpp"
#include "sparse/csr.hpp"
#include "sparse/halo.hpp"
#include "sparse/options.hpp"
#include "sparse/rows.hpp"
#include "sparse/sliced.hpp"
#include "starling/machine/machine.hpp"

namespace starling::sparse {

// The rows of all PEs, partitioned among blocks, or whatever works on some of them at a time.
template <class T>
struct block_partition {
  int blocks = 0;
  index_t unit = 0;
  matrix_data<T> data;  // what kernels need
  // What the largest block has.
  std::size_t most_block_bytes = 0;  // of entries
  index_t most_block_rows = 0;
  index_t most_block_parts = 0;
  std::vector<std::vector<block_plan>> plans_of_pe;
  symmetric_array<block_plan> plans;  // the same on the devices
};

template <class T>
class matrix {
 public:
  // `padding`: the value of entries that only fill slices up, which must not change what a row joins: infinity for
  // min_plus. Throws argument_error for options that do not fit the matrix, memory_error when it does not fit.
  matrix(machine& m, const csr_view<T>& a, const row_options& options, T padding = 0);

  const matrix_facts& facts() const { return facts_; }
  const rows_of_pe& rows(int pe) const { return to_deal_[static_cast<std::size_t>(pe)].own; }
  // By PE: those with which it exchanges values of a vector, in order.
  const std::vector<std::vector<int>>& neighbours() const { return neighbours_; }
  // The largest of any PE.
  index_t most_rows() const { return most_rows_; }
  index_t most_columns() const { return most_columns_; }
  index_t most_halo() const { return most_halo_; }

  // Each PE's rows partitioned among `blocks` blocks, boundaries at multiples of `unit` rows where there are any.
  // Partitions that were asked for lately are kept; the reference lasts until some others have been asked for.
  const block_partition<T>& partitioned(int blocks, index_t unit);

 private:
  void choose_storage(const csr_view<T>& a, const row_options& options);
  template <class Columns>
  void store(const csr_view<T>& a, const Columns& h);
  template <class Columns>
  void store_slices(const csr_view<T>& a, const Columns& h);
  template <class Offset, class Columns>
  void fill(const csr_view<T>& a, const Columns& h, const std::vector<slice_table>& tables,
            symmetric_array<Offset>& offsets);
  template <class Columns>
  void store_compressed(const csr_view<T>& a, const Columns& h);
  void store_halo(const halo& h);
  std::vector<std::vector<rows_of_pe>> rows_by_pe() const;
  void note_reach(const csr_view<T>& a, const halo& h);
  matrix_data<T> all_rows() const;
  int side() const { return facts_.how == storage::sliced_3x3 ? 3 : 1; }
  index_t entry_bytes() const;
  index_t least_part_bytes() const;
  template <class U>
  symmetric_array<U> to_devices(const std::vector<std::vector<U>>& by_pe);

  machine& machine_;
  T padding_;
  bool with_values_;
  matrix_facts facts_;
  std::vector<rows_to_deal> to_deal_;  // by PE
  std::vector<std::vector<int>> neighbours_;
  index_t most_rows_ = 0, most_columns_ = 0, most_halo_ = 0;
  std::list<block_partition<T>> partitions_;  // the one used last comes first

  symmetric_array<rows_of_pe> own_on_pes_;
  symmetric_array<T> values_;
  symmetric_array<std::uint16_t> offsets_16_;
  symmetric_array<std::int32_t> offsets_32_;
  symmetric_array<slice> slices_;
  symmetric_array<row_block> row_blocks_;
  symmetric_array<std::uint16_t> row_in_block_;
  symmetric_array<long_row> long_rows_;
  symmetric_array<T> piece_sums_;
  symmetric_array<send_entry> sends_;
};

}  // namespace starling::sparse
