// The sequential reference: one loop over the whole array, written without regard to the solver. Its bits are the
// oracle.
#pragma once

#include <vector>

#include "stencil/problem.hpp"

namespace starling::stencil {

// Advances u (C order, shape as in the problem) by `steps`; returns the largest change of a cell in the last step.
template <class T>
double reference(const problem<T>& p, std::vector<T>& u, index_t steps);

}  // namespace starling::stencil
