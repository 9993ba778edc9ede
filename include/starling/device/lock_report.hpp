// What a block says of a use of a lock that is against its rules, and the errors that the host throws for it.
#pragma once

#include "starling/base/error.hpp"
#include "starling/device/gpu_wait.hpp"

namespace starling {

enum class lock_defect : std::int32_t { not_held, held_already, no_such_block };

struct lock_fault {
  lock_defect what = lock_defect::not_held;
  int holder_pe = any_pe;   // who holds it; any_pe: nobody
  std::int64_t number = 0;  // not_held: the holder's block; no_such_block: blocks on each PE that the lock is made for
};

// `caller` says which call of which block it is.
[[noreturn]] inline void throw_lock_fault(const std::string& caller, int block, const lock_fault& f) {
  switch (f.what) {
    case lock_defect::held_already:
      throw argument_error(message(caller,
                                   ": sets a lock that it holds already, and would wait for itself; clear it "
                                   "first, or ask with test_lock"));
    case lock_defect::no_such_block:
      throw range_error(message(caller, ": block ", block, " uses a lock that is made for ", f.number,
                                " blocks on each PE; give shmem::make_lock the largest number of blocks that contend"));
    case lock_defect::not_held:
      break;
  }
  const std::string holder =
      f.holder_pe == any_pe ? "nobody does" : message("PE ", f.holder_pe, " block ", f.number, " does");
  throw argument_error(message(caller, ": clears a lock that it does not hold; ", holder,
                               ": the block that has set a lock clears it, once"));
}

inline std::string lock_caller(int pe, int block, where at) {
  return message(name(operation::lock), " at ", at.file, ":", at.line, " (PE ", pe, " block ", block, ")");
}

namespace gpu {

__attribute__((noinline)) STARLING_HD inline void refuse_lock(const program_state& s, int block, lock_fault f,
                                                              where at) {
  block_report r;
  r.state = block_state::out_of_range;
  r.op = operation::lock;
  r.peer = f.holder_pe;
  r.wanted = static_cast<std::uint64_t>(f.what);
  r.seen = static_cast<std::uint64_t>(f.number);
  set_place(r, at);
  file_report(s, block, r);
}

}  // namespace gpu
}  // namespace starling
