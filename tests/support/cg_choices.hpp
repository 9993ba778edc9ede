// Everything that a solve by conjugate gradients can be asked to do, to go through.
#pragma once

#include "cg/options.hpp"

namespace starling::test {

inline constexpr cg::method methods[] = {cg::method::standard, cg::method::fused, cg::method::pipelined};
inline constexpr cg::preconditioner preconditioners[] = {cg::preconditioner::none, cg::preconditioner::jacobi,
                                                         cg::preconditioner::block_jacobi,
                                                         cg::preconditioner::chebyshev};
inline constexpr cg::storage storages[] = {cg::storage::sliced, cg::storage::sliced_3x3, cg::storage::compressed};

}  // namespace starling::test
