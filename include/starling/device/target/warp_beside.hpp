// Blocks with one more warp beside the threads that the launch names: it comes last, and their barriers leave it out.
#pragma once

#include "pass.hpp"
#include "threads.hpp"

namespace starling::target {

inline constexpr int threads_beside = 32;

// Barrier of the first `threads` threads, which tells each how many of them passed true. A barrier with a number of
// threads waits for warps that have ended, so that none must: see leave_part_of_block.
STARLING_HD inline int sync_part_of_block([[maybe_unused]] int threads, bool value) {
#if defined(__CUDA_ARCH__)
  int yes;
  asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n bar.red.popc.u32 %0, 0, %1, p;\n}"
               : "=r"(yes)
               : "r"(threads), "r"(static_cast<unsigned>(value))
               : "memory");
  return yes;
#else
  return value ? 1 : 0;
#endif
}

// How many of them pass true; those that have left do not count. Two barriers: who has left passes true in both.
STARLING_HD inline int votes_of_part(int threads, bool value) {
  const int all = sync_part_of_block(threads, value);
  return all - sync_part_of_block(threads, false);
}

// How many lanes of each warp have left, in shared memory.
STARLING_HD inline unsigned* lanes_that_left() {
#if defined(__CUDA_ARCH__)
  __shared__ unsigned lanes[32];
  return lanes;
#else
  return nullptr;
#endif
}

// By every such thread before anything else.
STARLING_HD inline void enter_part_of_block() {
#if defined(__CUDA_ARCH__)
  if (threadIdx.x % 32 == 0) lanes_that_left()[threadIdx.x / 32] = 0;
  __syncwarp();
#endif
}

// Ends the calling thread, one of the first `threads`. Barriers of its warp do not wait for it; so that those of the
// block do not wait for its warp, the last lane of a warp goes on taking part in them, until only such lanes are left.
// Threads that have not left pass false in every barrier but the first of a vote: if each warp has passed true, and one
// lane of it alone, in two barriers in turn, there are none.
STARLING_HD inline void leave_part_of_block([[maybe_unused]] int threads) {
#if defined(__CUDA_ARCH__)
  const unsigned before = atomicAdd(lanes_that_left() + threadIdx.x / 32, 1u);
  // Not a branch, behind which lanes would wait for the one that stays.
  asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %0, 31;\n @p exit;\n}" ::"r"(before) : "memory");
  for (bool alone_before = false;;) {
    const bool alone = sync_part_of_block(threads, true) * 32 == threads;
    if (alone && alone_before) break;
    alone_before = alone;
  }
  exit_thread();
#endif
}

}  // namespace starling::target
