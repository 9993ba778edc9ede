// Barriers of a team; names and meanings are OpenSHMEM's. Collectives of a group g (a block, or a warp or thread of it)
// of every member: shmem/team.hpp says who meets whom. A caller that is no member, and one that a member waits for in
// vain, end the program on every PE: the host throws argument_error, or stall_error.
#pragma once

#include "starling/shmem/detail/meeting.hpp"

namespace starling::shmem {

// Returns when all members have called it. What a member's group wrote to its own PE's memory before is seen after by
// gets of the others; puts need quiet() before: barrier does both.
template <class Group>
STARLING_HD void sync(const Group& g, const team& t, where at = where::current()) {
  collective_call call;
  call.op = operation::team_sync;
  call.at = at;
  detail::meeting m(g, t, call);
  m.next();
  m.arrive(true);
  m.await_all(true);
  m.end();
}

// The same after quiet(): all puts of the members' groups before the call have arrived on return.
template <class Group>
STARLING_HD void barrier(const Group& g, const team& t, where at = where::current()) {
  g.quiet();
  sync(g, t, at);
}

}  // namespace starling::shmem
