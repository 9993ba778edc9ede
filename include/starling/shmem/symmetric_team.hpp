// symmetric_team and symmetric_axis: own the memory of teams, the same on every PE; freed when the owner dies. Made
// here on the host, from a machine; kernels get the plain handle(). The whole machine is split by the host alone, so
// there is no call that all PEs would have to make.
#pragma once

#include "starling/machine/machine.hpp"
#include "starling/shmem/team.hpp"

namespace starling::shmem {

struct team_options {
  int blocks = 1;                    // of each PE that meet: those with index() 0 to blocks - 1
  index_t slot_bytes = 16 * 1024;    // working memory for each member, twice; longer arrays go in pieces
  index_t gather_bytes = 16 * 1024;  // arrays of so many bytes together are reduced by all members: one flight; longer
                                     // ones are reduced in parts and sent on: two
};

// The memory of teams of up to `capacity` members.
class team_memory {
 public:
  team_memory() = default;
  team_memory(machine& m, int capacity, const team_options& options);

  // Throws argument_error when it was moved from.
  team::memory handle() const;
  void restart(machine& m, std::uint64_t after);

 private:
  team_options options_;
  int capacity_ = 0;
  symmetric_array<packet> packets_;
  symmetric_array<std::byte> slots_;
  symmetric_array<signal> entered_;
  symmetric_array<team_progress> progress_;
};

class symmetric_team {
 public:
  symmetric_team() = default;
  symmetric_team(machine& m, int start, int stride, int size, const team_options& options)
      : memory_(m, size, options), start_(start), stride_(stride), size_(size) {}

  // Throws argument_error when the team was moved from.
  team handle() const { return {start_, stride_, size_, memory_.handle()}; }

  // Between programs: as if the team had made `after` rounds. Needed after a program that ended with an error, which
  // may have left its members in different collectives.
  void restart(machine& m, std::uint64_t after = 0) { memory_.restart(m, after); }

 private:
  team_memory memory_;
  int start_ = 0;
  int stride_ = 1;
  int size_ = 0;
};

// The rows or the columns of a split in two dimensions.
class symmetric_axis {
 public:
  symmetric_axis() = default;
  symmetric_axis(machine& m, const team& parent, int across, bool rows, const team_options& options);

  axis_teams handle() const { return {parent_, across_, rows_, memory_.handle()}; }
  void restart(machine& m, std::uint64_t after = 0) { memory_.restart(m, after); }

 private:
  team_memory memory_;
  team parent_;
  int across_ = 0;
  bool rows_ = true;
};

struct split_axes {
  symmetric_axis x;  // rows: members that are neighbours in the parent
  symmetric_axis y;  // columns
};

// All PEs of the machine: SHMEM_TEAM_WORLD. Throws argument_error for options that make no sense, and memory_error as
// machine::allocate does; so do the splits.
symmetric_team team_world(machine& m, const team_options& options = {});

// The members start, start + stride, ... of the parent, `size` of them; the stride may be negative. Throws range_error
// unless all are members of the parent.
symmetric_team team_split_strided(machine& m, const team& parent, int start, int stride, int size,
                                  const team_options& options = {});

// The parent laid out in rows of `xrange` members, the last row with what is left. Throws argument_error unless
// xrange > 0; one beyond the parent's size makes one row.
split_axes team_split_2d(machine& m, const team& parent, int xrange, const team_options& x = {},
                         const team_options& y = {});

}  // namespace starling::shmem
