// What can be wrong with a collective of a team (shmem/team.hpp), how a block says so, and the text that the host
// throws. Here because a block's report is the machine's; teams themselves come after it.
#pragma once

#include <string>

#include "starling/base/error.hpp"
#include "starling/device/fault_report.hpp"

namespace starling {

enum class team_defect : std::int32_t {
  no_team,   // the handle was never made
  outside,   // the calling PE is no member
  no_block,  // the calling block's number is beyond what the team has memory for
  no_root,   // the root is no member's number
  negative,  // a count below 0
  stride,    // a stride below 1
  overlap,   // dest and source share a part
};

// `number`: the value that is refused; of outside the PE. `wanted`: of outside, no_block and no_root how many there
// are. `seen`: of outside the team's first PE.
struct team_fault {
  team_defect what;
  std::int64_t number;
  std::uint64_t wanted;
  std::uint64_t seen;
};

inline std::string text_of(const team_fault& f) {
  switch (f.what) {
    case team_defect::no_team:
      return "the team was never made; take the handle() of shmem::team_world or of a split";
    case team_defect::outside:
      return message("PE ", f.number, " is no member of the team of ", f.wanted, " PEs from PE ", f.seen,
                     " on; only members call: team_my_pe is -1 on the others");
    case team_defect::no_block:
      return message("block ", f.number, " calls, and the team has memory for ", f.wanted,
                     " blocks of each PE; raise team_options::blocks");
    case team_defect::no_root:
      return message("root ", f.number, " of a team of ", f.wanted,
                     " PEs; the root is a number in the team, from 0 to ", f.wanted - 1);
    case team_defect::negative:
      return message(f.number, " elements; a count is at least 0");
    case team_defect::stride:
      return message("a stride of ", f.number, "; strides are at least 1");
    case team_defect::overlap:
      return message("dest and source, ", f.wanted, " and ", f.seen,
                     " bytes, overlap; pass two arrays that are apart, or, to a reduction, a scan or a broadcast, the "
                     "same one twice");
  }
  return "?";
}

// Range errors are of numbers that are out of range, argument errors of what is no number.
[[noreturn]] inline void throw_team_fault(const std::string& place, const team_fault& f) {
  const std::string text = message(place, ": ", text_of(f));
  if (f.what == team_defect::no_team || f.what == team_defect::outside || f.what == team_defect::overlap)
    throw argument_error(text);
  throw range_error(text);
}

[[noreturn]] inline void refuse_team(int pe, int block, operation op, const team_fault& f, where at) {
  throw_team_fault(message(name(op), " at ", at.file, ":", at.line, " (PE ", pe, " block ", block, ")"), f);
}

}  // namespace starling
