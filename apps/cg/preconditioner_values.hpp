// What preconditioners need of a matrix, worked out on the host: inverse diagonal entries, inverse blocks.
#pragma once

#include <vector>

#include "cg/csr.hpp"

namespace starling::cg {

// The inverses of the blocks of `size` rows on the diagonal, row after row, `size` values each. Blocks begin anew at
// each of `first_rows`; the last one of a PE may be smaller. Throws argument_error, with the row, for a block that is
// not positive definite.
template <class T>
std::vector<T> inverse_blocks(const csr_view<T>& a, index_t size, const std::vector<index_t>& first_rows);

}  // namespace starling::cg
