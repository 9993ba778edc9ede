// How rows are partitioned among PEs: contiguous ranges, balanced by entries or by rows.
#pragma once

#include <vector>

#include "sparse/csr.hpp"
#include "sparse/options.hpp"

namespace starling::sparse {

// The first row of each PE, and the number of rows at the end: [n_pes + 1]. Every boundary is a multiple of `unit` but
// the last. Throws argument_error when the options give boundaries that are none, or no multiples of `unit`.
std::vector<index_t> deal_rows(index_t rows, const index_t* row_start, int n_pes, index_t unit,
                               const row_options& options);

}  // namespace starling::sparse
