// How a block's report carries what is wrong with the use of what is built on blocks: a region, a team. Such a fault is
// a struct of what (an enumeration of the defects), number, wanted and seen; the header that has it says what they
// mean, and has the text that the host throws.
#pragma once

#include "starling/device/gpu_wait.hpp"

namespace starling {

// The fault in a report that refuse_fault has filed.
template <class Fault>
Fault fault_of(const block_report& r) {
  return {static_cast<decltype(Fault::what)>(r.peer), static_cast<std::int64_t>(r.signal_offset), r.wanted, r.seen};
}

namespace gpu {

// Files the fault and ends the program.
template <class Fault>
__attribute__((noinline)) STARLING_HD void refuse_fault(const program_state& s, int block, operation op, const Fault& f,
                                                        where at) {
  block_report r;
  r.state = block_state::out_of_range;
  r.op = op;
  r.peer = static_cast<std::int32_t>(f.what);
  r.signal_offset = static_cast<std::uint64_t>(f.number);
  r.wanted = f.wanted;
  r.seen = f.seen;
  set_place(r, at);
  file_report(s, block, r);
}

}  // namespace gpu
}  // namespace starling
