// Entries of kernels: what a launch hands to the driver, and how many threads and blocks a kernel may have.
#pragma once

#include "pass.hpp"
#include "threads.hpp"
#include "warp_beside.hpp"

namespace starling::target {

// The most threads that a block of a kernel may have: 1024, or the functor's max_threads. Fewer leave each thread more
// registers.
template <class Kernel>
constexpr int most_threads_of() {
  if constexpr (requires { Kernel::max_threads; })
    return Kernel::max_threads;
  else
    return 1024;
}
template <class Kernel>
inline constexpr int most_threads = most_threads_of<Kernel>();

// The least blocks that a multiprocessor must have room for: 0, or the functor's least_blocks. Where it says nothing,
// the compiler may make registers fewer than max_threads allows, and move values to memory.
template <class Kernel>
constexpr int least_blocks_of() {
  if constexpr (requires { Kernel::least_blocks; })
    return Kernel::least_blocks;
  else
    return 0;
}
template <class Kernel>
inline constexpr int least_blocks = least_blocks_of<Kernel>();

// Whether what a kernel does on virtual devices is written for blocks of one thread, the functor's one_thread_on_host:
// check mode then gives it no more.
template <class Kernel>
constexpr bool is_for_one_thread_on_host() {
  if constexpr (requires { Kernel::one_thread_on_host; })
    return Kernel::one_thread_on_host;
  else
    return false;
}
template <class Kernel>
inline constexpr bool one_thread_on_host = is_for_one_thread_on_host<Kernel>();

// How many threads a block has in check mode: as many as the functor's threads_in_check() says; 0: any number.
template <class Kernel>
int threads_in_check([[maybe_unused]] const Kernel& k) {
  if constexpr (requires { k.threads_in_check(); })
    return k.threads_in_check();
  else
    return one_thread_on_host<Kernel> ? 1 : 0;
}

// Whether a kernel is right for whole warps alone, the functor's whole_warps: check mode then gives blocks one thread,
// or 32 or 64 in warps of 32.
template <class Kernel>
constexpr bool is_for_whole_warps() {
  if constexpr (requires { Kernel::whole_warps; })
    return Kernel::whole_warps;
  else
    return false;
}
template <class Kernel>
inline constexpr bool for_whole_warps = is_for_whole_warps<Kernel>();

// What one of a kernel's entries was compiled for: blocks that record their calls, that a network card may be between
// them and PEs, that they have one more warp. Entries have the three as parameters of their own: nvcc names no kernels
// by structures.
struct entry_kind {
  bool traced = false;
  bool networked = false;
  bool with_warp = false;
};

// The GPU side of every launch: makes the thread's view of the block and calls the kernel.
template <class Block, class State, class Kernel, bool Traced, bool Networked>
STARLING_HD inline void run_block([[maybe_unused]] const State& state, [[maybe_unused]] const Kernel& kernel) {
#if defined(__CUDA_ARCH__)
  Block b(state, {.traced = Traced, .networked = Networked});
  if constexpr (Networked) b.begin_network();
  if constexpr (Traced) b.begin_trace();
  kernel(b);
  if constexpr (Networked) b.end_network();
  if constexpr (Traced) b.end_trace();
#endif
}

#if defined(__CUDACC__)
// There are several entries of each kernel: recording takes registers and instructions, and so do network cards; one
// that does without must not have them.
template <class Block, class State, class Kernel, bool Traced, bool Networked>
__global__ void __launch_bounds__(most_threads<Kernel>, least_blocks<Kernel>)
    entry(const __grid_constant__ State state, const __grid_constant__ Kernel kernel) {
  run_block<Block, State, Kernel, Traced, Networked>(state, kernel);
}

// An entry under a name of its own, which one finds in a file of GPU code (kernel_file).
#define STARLING_GPU_ENTRY(name, Block, State, Kernel, traced)                           \
  extern "C" __global__ void __launch_bounds__(starling::target::most_threads<Kernel>,   \
                                               starling::target::least_blocks<Kernel>)   \
      name(const __grid_constant__ State state, const __grid_constant__ Kernel kernel) { \
    starling::target::run_block<Block, State, Kernel, traced, false>(state, kernel);     \
  }

// The same for blocks with one more warp, which runs kernel.beside(state). It is one of the most threads that a block
// may have, so that the others have the registers that they would have without it.
template <class Block, class State, class Kernel, bool Traced>
__global__ void __launch_bounds__(most_threads<Kernel>, least_blocks<Kernel>)
    entry_with_warp(const __grid_constant__ State state, const __grid_constant__ Kernel kernel) {
#if defined(__CUDA_ARCH__)
  const int threads = thread_count() - threads_beside;
  if (thread_index() >= threads) {
    kernel.beside(state);
    return;
  }
  enter_part_of_block();
  Block b(state, {.traced = Traced, .with_warp = true});
  if constexpr (Traced) b.begin_trace();
  kernel(b);
  if constexpr (Traced) b.end_trace();
  leave_part_of_block(threads);
#endif
}
#else
#define STARLING_GPU_ENTRY(name, Block, State, Kernel, traced)
#endif

// Launches a kernel of one block from a thread of another kernel, whose end then waits for it. False: no room was left
// for a launch that has not begun, or the code cannot launch (launches_from_kernels).
#if defined(__CUDACC_RDC__)
inline constexpr bool launches_from_kernels = on_gpu;
#else
inline constexpr bool launches_from_kernels = false;
#endif
template <class Block, class State, class Kernel>
STARLING_HD inline bool launch_from_kernel([[maybe_unused]] const State& state, [[maybe_unused]] const Kernel& kernel,
                                           [[maybe_unused]] int threads) {
#if defined(__CUDA_ARCH__) && defined(__CUDACC_RDC__)
  entry<Block, State, Kernel, false, false><<<1, threads, 0, cudaStreamFireAndForget>>>(state, kernel);
  return cudaGetLastError() == cudaSuccess;
#else
  return false;
#endif
}

// What the launch hands to the driver; null when this source was compiled for virtual devices only, or for machines of
// one host.
template <class Block, class State, class Kernel, bool Traced, bool Networked>
const void* entry_of() {
#if defined(__CUDACC__)
  if constexpr (Networked && !has_network_entries)
    return nullptr;
  else
    return reinterpret_cast<const void*>(&entry<Block, State, Kernel, Traced, Networked>);
#else
  return nullptr;
#endif
}

template <class Block, class State, class Kernel, bool Traced>
const void* entry_with_warp_of() {
#if defined(__CUDACC__)
  return reinterpret_cast<const void*>(&entry_with_warp<Block, State, Kernel, Traced>);
#else
  return nullptr;
#endif
}

}  // namespace starling::target
