// What preconditioners need of a matrix, worked out on the host: inverse diagonal entries, inverse blocks; and how much
// longer than r the vector M r can be.
#pragma once

#include <vector>

#include "cg/names.hpp"

namespace starling::cg {

// The inverses of the blocks of `size` rows on the diagonal, row after row, `size` values each. Blocks begin anew at
// each of `first_rows`; the last one of a PE may be smaller. Throws argument_error, with the row, for a block that is
// not positive definite.
template <class T>
std::vector<T> inverse_blocks(const csr_view<T>& a, index_t size, const std::vector<index_t>& first_rows);

// At least the largest eigenvalue of such blocks, or of a diagonal with `size` = 1.
template <class T>
double norm_of_blocks(const std::vector<T>& inverse, index_t size);

// The same of Chebyshev's polynomial: its value at 0.
double norm_of_polynomial(int degree, double lowest, double highest);

}  // namespace starling::cg
