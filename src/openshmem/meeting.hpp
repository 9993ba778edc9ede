// How PEs meet: each says at a place of its own what it is about to do; the first of them waits for all, compares, and
// lets them go. Places are words of teams, or the pSync of an active set; they are as before when a meeting is over.
// PEs of several hosts send each other messages instead (far_meetings.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "control.hpp"
#include "shmem.h"

namespace starling::openshmem {

enum class operation : std::uint8_t {
  finalize,
  allocate,
  release,
  barrier_all,
  sync_all,
  team_sync,
  barrier,
  sync,
  split_strided,
  split_2d,
  team_place,
  destroy,
  broadcast,
  collect,
  fcollect,
  alltoall,
  alltoalls,
  and_reduce,
  or_reduce,
  xor_reduce,
  max_reduce,
  min_reduce,
  sum_reduce,
  prod_reduce,
  inscan,
  exscan,
  done,
};

// Who meets: the PEs start, start + stride, ..., and where each has its words.
struct members {
  int start;
  int stride;
  int size;
  int me;  // which of them this PE is
  std::size_t place;

  int pe(int i) const { return start + i * stride; }
};

// What a PE says: what it does, the size of an element, and what else all must say alike: elements (except to collect),
// a root or strides. The places of source and dest are each PE's own business.
struct notice {
  operation what;
  std::size_t element = 0;
  std::uint64_t n = 0;
  std::uint64_t other = 0;
  std::uint64_t third = 0;
  std::uint64_t source = 0;
  std::uint64_t dest = 0;
};

// All PEs. Throws argument_error outside of shmem_init and shmem_finalize.
members everyone();
// The members of a team. Throws argument_error for one that does not exist.
members whole(shmem_team_t team);
// PEs start, start + 2^log_stride, ...; pSync: an array of SHMEM_SYNC_SIZE words on each. Throws range_error,
// argument_error for a set without this PE or words that are not SHMEM_SYNC_VALUE.
members active_set(int start, int log_stride, int size, long* pSync);

// Whether two members say the same.
bool alike(const notice& a, const notice& b);

// What a wait for others says when the deadline is over. Who waits for the first member waits longer by so many
// seconds: that one names who is missing.
std::string did_not_come(const members& m, int i, operation what);
std::string did_not_end(const members& m, operation what);
inline constexpr double first_is_slower = 2;

// Returns when all members have come and say the same; all that they have written is visible then. Throws
// argument_error in all of them where they do not, late_error that names who does not come.
void meet(const members& m, const notice& mine);
// What another member has said at the last meeting, until the next one.
notice said_by(const members& m, int i);
}  // namespace starling::openshmem
