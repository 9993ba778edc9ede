// What the options and vectors of a solve must be. All throw argument_error that names the value and what is allowed.
#pragma once

#include "cg/options.hpp"

namespace starling::cg {

void check_matrix_options(const matrix_options& o);

// `blocks_kept`: the solver has the blocks that block_jacobi inverts.
void check_solve_options(const solve_options& o, bool blocks_kept);

// n finite values.
template <class T>
void check_vector(const char* name, const T* v, index_t n);

}  // namespace starling::cg
