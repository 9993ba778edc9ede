// Pointers that are given where a symmetric address is wanted: whether they point into symmetric memory of the caller's
// own PE, and what is reported when they do not.
#pragma once

#include "starling/device/gpu_wait.hpp"

namespace starling {

STARLING_HD inline bool is_own_symmetric(const program_state& s, const void* address) {
  return gpu::offset_in_heap(s, address) < s.heap_bytes;
}

// What a report says of an address that is not one.
STARLING_HD inline void set_address(block_report& r, const program_state& s, const void* address) {
  r.state = block_state::not_symmetric;
  r.wanted = reinterpret_cast<std::uintptr_t>(address);
  r.peer = any_pe;
  for (int pe = 0; pe < s.n_pes; ++pe) {
    const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - s.heap.on(pe));
    if (offset >= s.heap_bytes) continue;
    r.peer = pe;
    r.signal_offset = offset;
  }
}

namespace gpu {

// Files the report and ends the program.
__attribute__((noinline)) STARLING_HD inline void refuse_address(const program_state& s, int block, const void* address,
                                                                 where at) {
  block_report r;
  set_address(r, s, address);
  set_place(r, at);
  file_report(s, block, r);
}

}  // namespace gpu
}  // namespace starling
