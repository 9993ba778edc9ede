// What can be wrong with the use of a region (region/region.hpp) inside a kernel, how a block says so, and the text
// that the host throws as region_error. Here because a block's report is the machine's; regions themselves come after
// it.
#pragma once

#include <string>

#include "starling/base/error.hpp"
#include "starling/device/fault_report.hpp"

namespace starling {

enum class region_defect : std::int32_t {
  no_epoch,       // wrote epoch 0
  skipped_epoch,  // committed an epoch before the one before was complete
  excess_commit,  // committed a chunk more often than it has writers
  part_filled,    // the kernel is over and a chunk lacks commits
  outside_tile,   // stored to an element that the tile does not write
  unwritten,      // committed a tile with an element that it did not store
  no_subscriber,  // awaited or read a chunk that this PE does not get
  no_element,     // read or awaited an element that the region does not have
  needs_credits,  // awaited a part of an epoch, or gave a credit, without region_options::credits
  kept_early,     // left a tile unchanged whose buffer has held no epoch
  kept_stored,    // stored to a tile and left it unchanged
  kept_other,     // left a tile unchanged whose buffer holds other values
  no_mapping,     // wrote tiles of a mapping that the region does not have
  no_flush,       // flushed without region_options::flushes
  altered,        // a chunk is not as it was sent
  other_buffer,   // wrote an epoch in a launch whose copies are of another buffer
  left_tiles,     // a thread of a launch has returned and not called each_tile
  tiles_again     // it has called each_tile more than once
};

// `number`: the chunk; of no_mapping the mapping; of other_buffer the epoch; of kept_early the tile; of outside_tile,
// unwritten, kept_stored, kept_other and no_element the element; of left_tiles and tiles_again the group.
struct region_fault {
  region_defect what;
  std::int64_t number;
  std::uint64_t wanted;
  std::uint64_t seen;
};

inline std::string text_of(const region_fault& f) {
  switch (f.what) {
    case region_defect::no_epoch:
      return "epoch 0 is what region::load brings; kernels write epochs from 1 on";
    case region_defect::skipped_epoch:
      return message("chunk ", f.number, " was committed for epoch ", f.wanted, " after ", f.seen,
                     " commits, before all of the epoch before; call await(b, epoch - 1) before the tiles of an epoch");
    case region_defect::excess_commit:
      return message("chunk ", f.number, " was committed more than ", f.wanted, " times by this epoch (", f.seen,
                     "); each tile is committed once, by the one block that each_tile gives it to: call each_tile once "
                     "an epoch, by the blocks of one role");
    case region_defect::part_filled:
      return message("the kernel is over and chunk ", f.number, " has ", f.seen, " commits where an epoch takes ",
                     f.wanted, "; all blocks must leave after the same epoch");
    case region_defect::outside_tile:
      return message("stored to element ", f.number, ", which this tile does not write; it writes its ranges alone");
    case region_defect::unwritten:
      return message("element ", f.number, " was not stored in epoch ", f.wanted,
                     "; every element of a tile is stored in every epoch: with two buffers one left out is two epochs "
                     "old");
    case region_defect::no_subscriber:
      return message("chunk ", f.number, " is not sent to this PE; name it in region_options::subscribers");
    case region_defect::no_element:
      return message("element ", f.number, " of a region with ", f.wanted, "; elements start at 0");
    case region_defect::altered:
      return message("chunk ", f.number, " of epoch ", f.wanted,
                     " is not as its PE sent it, by its hash; its arrival word is at ", f.seen,
                     ": something else has stored to it, or it was told of before it had arrived");
    case region_defect::needs_credits:
      return "reading a part of an epoch, and giving credit, need region_options::credits: without them a PE may "
             "overwrite what others still read";
    case region_defect::kept_early:
      return message("tile ", f.number, " was left unchanged in epoch ", f.seen,
                     ", whose buffer has held no epoch; with ", f.wanted, " buffers call unchanged() from epoch ",
                     f.wanted, " on");
    case region_defect::kept_stored:
      return message("element ", f.number, " was stored in epoch ", f.wanted,
                     ", and its tile left unchanged; store every element, or none and call unchanged()");
    case region_defect::kept_other:
      return message("element ", f.number, " is not the same in epochs ", f.wanted, " and ", f.seen,
                     ", and its tile was left unchanged; an epoch lies where epoch ", f.seen,
                     " did, so a tile may be left only if it has not changed since");
    case region_defect::no_mapping:
      return message("tiles of mapping ", f.number, " of a region with ", f.wanted,
                     "; name all mappings in region_options::tiles, they are numbered from 0");
    case region_defect::other_buffer:
      return message("epoch ", f.number, " lies in buffer ", f.seen, ", and the copies of this launch are of buffer ",
                     f.wanted,
                     ": a recorded launch that copy_engine sends begins with the buffer that it was recorded for; "
                     "record as many epochs as there are buffers, or a multiple");
    case region_defect::left_tiles:
      return message("threads of group ", f.number, " of ", f.wanted,
                     " on this PE have returned from the body of a launch without each_tile; all threads of every "
                     "group call it once, also where it has no tile");
    case region_defect::tiles_again:
      return message("group ", f.number, " of ", f.wanted,
                     " on this PE calls each_tile again; a launch writes one epoch, so every group calls it once");
    case region_defect::no_flush:
      return "flush, and the calls that flush first, need region_options::flushes: without it agents send whole "
             "chunks, "
             "also over what a flush has sent and others read";
  }
  return "?";
}

[[noreturn]] inline void refuse_region(int pe, int block, const region_fault& f, where at) {
  throw region_error(message("region at ", at.file, ":", at.line, " (PE ", pe, " block ", block, "): ", text_of(f)));
}

}  // namespace starling
