// What a matrix must be, checked on the host before anything is built from it.
#pragma once

#include <vector>

#include "cg/csr.hpp"

namespace starling::cg {

// Throws argument_error, with the row, unless the arrays are a sparse matrix: rows in order, columns in range and
// ascending, values finite.
template <class T>
void check_arrays(const csr_view<T>& a);

// Throws argument_error, with the place and the values, unless the matrix is symmetric (entries of a pair may differ by
// rounding errors) and every entry of the diagonal is there and positive.
template <class T>
void check_symmetric_positive(const csr_view<T>& a);

// The entries on the diagonal; zero where there is none.
template <class T>
std::vector<T> diagonal(const csr_view<T>& a);

// A bound of the largest eigenvalue: the largest sum of absolute values of a row (Gershgorin).
template <class T>
double largest_row_sum(const csr_view<T>& a);

}  // namespace starling::cg
