// How a solve is launched: blocks, threads, and what stays in shared memory.
#pragma once

#include "cg/iterate/cg_kernels.hpp"
#include "sparse/matrix.hpp"

namespace starling::cg {

struct launch_shape {
  int blocks = 1;  // per PE, that work
  int threads = most_block_threads;
  index_t unit = 1;  // blocks have rows in multiples of this
  kept_data kept;
  std::size_t kept_bytes = 0;
  std::size_t scratch_bytes = 0;
};

// Options that are not 0 are kept; throws launch_error when so many blocks do not fit. `s` with the preconditioner.
template <class T>
launch_shape choose_launch(const machine& m, matrix<T>& a, const system_data<T>& s, const solve_options& o);

}  // namespace starling::cg
