// The kernels of conjugate gradients, by element type, ready to launch.
#pragma once

#include "cg/iterate/block_context.hpp"
#include "cg/iterate/decide.hpp"
#include "cg/iterate/system.hpp"
#include "starling/machine/kernel.hpp"

namespace starling::cg {

// The persistent program: solves for one right-hand side after another, until the last one has reached its goal or the
// history is full. Role 0 works; role 1, one block on each PE, gathers sums.
template <class T>
struct program_arguments {
  system_data<T> s;
  method how = method::fused;
  sym<goal> goals;      // [columns]
  sym<T> right;         // [columns][stride] the right-hand sides
  sym<T> solution;      // [columns][stride] the starts, then the solutions
  index_t columns = 1;  // the state says which of them comes first
  index_t history_entries = 0;
  kept_data kept;
  bool begin = true;  // a new solve: x and b are there and nothing else
};
// Registers for all that an update has in flight; more threads would not make memory faster, but barriers slower.
inline constexpr int most_block_threads = 512;
inline constexpr int summing_role = 1;

template <class T>
kernel standard_kernel(const program_arguments<T>& a);
template <class T>
kernel fused_kernel(const program_arguments<T>& a);
template <class T>
kernel pipelined_kernel(const program_arguments<T>& a);

template <class T>
kernel program_kernel(const program_arguments<T>& a) {
  if (a.how == method::standard) return standard_kernel(a);
  return a.how == method::fused ? fused_kernel(a) : pipelined_kernel(a);
}

// Bytes of scratch that the program's blocks need, without what is kept.
template <class T>
std::size_t program_scratch(int threads, bool on_gpu, bool compressed, int n_pes) {
  const int warps = on_gpu ? static_cast<int>(ceil_div(threads, 32)) : 0;
  return block_context<T>::scratch_bytes(warps, compressed) + sum_scratch(warps, n_pes) + sizeof(iteration_state) +
         sizeof(goal) + 48;
}

// One product of what has been published: vector w = A x. Publishing x is a kernel before it.
template <class T>
kernel publish_kernel(const system_data<T>& s, vector_name v, std::uint64_t product);
template <class T>
kernel product_kernel(const system_data<T>& s, vector_name out, std::uint64_t product);

}  // namespace starling::cg
