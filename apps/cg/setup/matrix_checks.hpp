// What a matrix of a system must be, checked on the host before anything is built from it.
#pragma once

#include "cg/names.hpp"

namespace starling::cg {

// Throws argument_error, with the place and the values, unless the matrix is symmetric (entries of a pair may differ by
// rounding errors) and every entry of the diagonal is there and positive.
template <class T>
void check_symmetric_positive(const csr_view<T>& a);

// A bound of the largest eigenvalue: the largest sum of absolute values of a row (Gershgorin).
template <class T>
double largest_row_sum(const csr_view<T>& a);

}  // namespace starling::cg
