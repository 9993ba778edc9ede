// Reductions and scans over the members of a team; names and meanings are OpenSHMEM 1.5's and 1.6's. Collectives of a
// group g (a block, or a warp or thread of it) of every member: shmem/team.hpp says who meets whom.
//
// Element k of dest becomes element k of source of all members (of a scan: of some), combined in the members' order:
// member 0's with member 1's, that with member 2's, and so on. So all members get the same bits, on every run, whatever
// way the data takes. Sums and products of integers wrap around. dest and source may be the same, and must not overlap
// otherwise.
//
// What gather.hpp says of its calls holds for these: dest ready before any member calls, on return written and source
// free, no other memory ordered, and the same errors.
#pragma once

#include "starling/shmem/detail/fold.hpp"

namespace starling::shmem {

// What the reductions do; Op is one of combine.hpp's, or the user's own with an order that matters to the result.
template <class Group, symmetric_address Dest, source_for<Dest> Source, class Op>
STARLING_HD void reduce(const Group& g, const team& t, Dest dest, Source source, index_t n, Op op,
                        where at = where::current()) {
  detail::fold(g, t, dest, source, n, op, operation::team_reduce, at);
}

template <class Group, combined_by<sum> Dest, source_for<Dest> Source>
STARLING_HD void sum_reduce(const Group& g, const team& t, Dest dest, Source source, index_t n,
                            where at = where::current()) {
  reduce(g, t, dest, source, n, sum{}, at);
}
template <class Group, combined_by<product> Dest, source_for<Dest> Source>
STARLING_HD void prod_reduce(const Group& g, const team& t, Dest dest, Source source, index_t n,
                             where at = where::current()) {
  reduce(g, t, dest, source, n, product{}, at);
}
// Of numbers; a NaN is handed on.
template <class Group, combined_by<maximum> Dest, source_for<Dest> Source>
STARLING_HD void max_reduce(const Group& g, const team& t, Dest dest, Source source, index_t n,
                            where at = where::current()) {
  reduce(g, t, dest, source, n, maximum{}, at);
}
template <class Group, combined_by<minimum> Dest, source_for<Dest> Source>
STARLING_HD void min_reduce(const Group& g, const team& t, Dest dest, Source source, index_t n,
                            where at = where::current()) {
  reduce(g, t, dest, source, n, minimum{}, at);
}
template <class Group, combined_by<bitwise_and> Dest, source_for<Dest> Source>
STARLING_HD void and_reduce(const Group& g, const team& t, Dest dest, Source source, index_t n,
                            where at = where::current()) {
  reduce(g, t, dest, source, n, bitwise_and{}, at);
}
template <class Group, combined_by<bitwise_or> Dest, source_for<Dest> Source>
STARLING_HD void or_reduce(const Group& g, const team& t, Dest dest, Source source, index_t n,
                           where at = where::current()) {
  reduce(g, t, dest, source, n, bitwise_or{}, at);
}
template <class Group, combined_by<bitwise_xor> Dest, source_for<Dest> Source>
STARLING_HD void xor_reduce(const Group& g, const team& t, Dest dest, Source source, index_t n,
                            where at = where::current()) {
  reduce(g, t, dest, source, n, bitwise_xor{}, at);
}

// The sum of the members up to the caller, the caller too.
template <class Group, combined_by<sum> Dest, source_for<Dest> Source>
STARLING_HD void sum_inscan(const Group& g, const team& t, Dest dest, Source source, index_t n,
                            where at = where::current()) {
  detail::fold(g, t, dest, source, n, sum{}, operation::team_inscan, at);
}
// The sum of the members before the caller; 0 on member 0.
template <class Group, combined_by<sum> Dest, source_for<Dest> Source>
STARLING_HD void sum_exscan(const Group& g, const team& t, Dest dest, Source source, index_t n,
                            where at = where::current()) {
  detail::fold(g, t, dest, source, n, sum{}, operation::team_exscan, at);
}

}  // namespace starling::shmem
