// How a GPU thread ends its kernel by itself, with a report. One that is handed nothing but data does so for an index
// outside of a slice: the block keeps the address of what it was launched with in shared memory, in sources compiled
// with STARLING_STF_CHECK_BOUNDS.
#pragma once

#include "starling/device/group.hpp"

namespace starling {

// Files the report and ends the calling thread. The host throws range_error.
__attribute__((noinline)) STARLING_HD inline void end_outside_bounds(std::int64_t index, int dimension,
                                                                     std::int64_t extent) {
  const auto& state = *static_cast<const program_state*>(*target::launch_state());
  block_report r;
  r.state = block_state::out_of_range;
  r.op = operation::slice_access;
  r.peer = dimension;
  r.wanted = static_cast<std::uint64_t>(index);
  r.seen = static_cast<std::uint64_t>(extent);
  gpu::file_report(state, target::block_index(), r);
  if (state.threads_beside != 0) target::leave_part_of_block(target::thread_count() - state.threads_beside);
  target::exit_thread();
}

// The same for a level of a thread hierarchy that cannot synchronise. The host throws argument_error.
template <class Group>
__attribute__((noinline)) STARLING_HD void end_without_level(const Group& g, int level, where at) {
  gpu::refuse(g.state(), g.index(), block_state::out_of_range, operation::sync_level, level, 0, at);
  target::exit_thread();
}

}  // namespace starling
