// Random collectives of teams, several rounds in one program, and what they must leave in memory: a sequential loop
// over the members. Every step has memory of its own, so destinations are ready before any member calls.
#pragma once

#include <cstring>
#include <vector>

#include "starling/shmem.hpp"
#include "support/elements.hpp"
#include "support/levels.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace starling::test {

enum class team_call : int {
  sync,
  barrier,
  broadcast,
  collect,
  fcollect,
  alltoall,
  alltoalls,
  sum,
  product,
  maximum,
  minimum,
  conjunction,
  disjunction,
  difference,
  inscan,
  exscan,
  count
};
constexpr bool combines(team_call c) { return c >= team_call::sum; }
constexpr bool in_place_allowed(team_call c) { return c == team_call::broadcast || combines(c); }
constexpr bool of_bits(team_call c) { return c >= team_call::conjunction && c <= team_call::difference; }

// `dest` and `source`: where they lie in the block's memory.
struct team_step {
  team_call call = team_call::sync;
  int team = 0;
  index_t n = 0;
  int root = 0;
  index_t dest_stride = 1;
  index_t source_stride = 1;
  index_t dest = 0;
  index_t source = 0;
};

template <class T>
STARLING_HD T team_value(std::uint64_t seed, int pe, int block, int step, index_t i) {
  const std::uint64_t x = mix(seed, mix(static_cast<std::uint64_t>(pe), static_cast<std::uint64_t>(block)),
                              static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(i));
  if constexpr (std::is_floating_point_v<T>) {
    const double unit = static_cast<double>(x >> 11) / 9007199254740992.0;  // of any size, so that order shows
    return static_cast<T>((2 * unit - 1) * (x % 3 == 0 ? 1e-6 : x % 3 == 1 ? 1.0 : 1e3));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(x);
  } else {
    return element<T>::of(x & 0xffffff);
  }
}

// The count of a PE in a collect, at most n.
STARLING_HD inline index_t team_count(const team_step& s, std::uint64_t seed, int pe, int step) {
  return static_cast<index_t>(mix(seed, static_cast<std::uint64_t>(pe), static_cast<std::uint64_t>(step)) %
                              static_cast<std::uint64_t>(s.n + 1));
}

// How many elements of its source member `me` has to fill. Of a broadcast only the root does: the array of others may
// be the destination.
STARLING_HD inline index_t team_source_size(const team_step& s, int me, int members, index_t count) {
  if (s.call == team_call::broadcast && me != s.root) return 0;
  if (s.call == team_call::sync || s.call == team_call::barrier) return 0;
  if (s.call == team_call::alltoall) return s.n * members;
  if (s.call == team_call::alltoalls) return s.n * members * s.source_stride;
  return count;
}

// Whether parts of blocks call too: not for every type, since each call is compiled again for each of them.
template <class T>
inline constexpr bool called_by_parts = std::is_same_v<T, double> || std::is_same_v<T, words3>;

inline constexpr int most_team_steps = 12;
inline constexpr int test_teams = 3;

template <class T>
struct team_program {
  shmem::team teams[test_teams];
  team_step steps[most_team_steps];
  int n_steps = 0;
  sym<T> memory;  // [blocks][capacity]
  index_t capacity = 0;
  std::uint64_t seed = 0;
  level by = level::block;
  bool synced = false;  // all PEs meet between the steps

  STARLING_HD void operator()(block& b) const {
    for (int i = 0; i < n_steps; ++i) {
      if constexpr (called_by_parts<T>)
        at_level(b, by, [&](const auto& g) { make(g, i); });
      else
        make(b, i);
      if (synced) b.sync_all();
    }
  }

  template <class Group>
  STARLING_HD void make(const Group& g, int i) const {
    const team_step& s = steps[i];
    const shmem::team& t = teams[s.team];
    const int me = shmem::team_my_pe(g, t);
    if (me < 0) return;
    const sym<T> mine = memory + g.index() * capacity;
    const sym<T> dest = mine + s.dest;
    const sym<T> source = mine + s.source;
    const index_t count = s.call == team_call::collect ? team_count(s, seed, g.pe(), i) : s.n;
    T* filled = source.on(g.pe());
    g.for_each(team_source_size(s, me, t.size(), count),
               [&](index_t k) { filled[k] = team_value<T>(seed, g.pe(), g.index(), i, k); });
    call(g, s, t, dest, source, count, i);
  }

  template <class Group>
  STARLING_HD void call(const Group& g, const team_step& s, const shmem::team& t, sym<T> dest, sym<T> source, index_t n,
                        int i) const {
    switch (s.call) {
      case team_call::broadcast:
        return shmem::broadcast(g, t, dest, source, n, s.root);
      case team_call::collect:
        return shmem::collect(g, t, dest, source, n);
      case team_call::fcollect:
        return shmem::fcollect(g, t, dest, source, n);
      case team_call::alltoall:
        return shmem::alltoall(g, t, dest, source, n);
      case team_call::alltoalls:
        return shmem::alltoalls(g, t, dest, source, s.dest_stride, s.source_stride, n);
      case team_call::sync:
      case team_call::barrier:
        return meet(g, s, t, dest, i);
      default:
        if constexpr (std::is_arithmetic_v<T>) reduce(g, s, t, dest, source, n);
    }
  }

  // The neighbour's value in element 0: before sync it is in its own element 1, before barrier it is put into ours.
  template <class Group>
  STARLING_HD void meet(const Group& g, const team_step& s, const shmem::team& t, sym<T> dest, int i) const {
    const int me = shmem::team_my_pe(g, t);
    const int right = t.pe((me + 1) % t.size());
    const T value = team_value<T>(seed, g.pe(), g.index(), i, 0);
    if (s.call == team_call::sync) {
      if (g.member() == 0) dest.on(g.pe())[1] = value;
      shmem::sync(g, t);
      const T got = g.g(dest + 1, right);
      if (g.member() == 0) *dest.on(g.pe()) = got;
    } else {
      g.p(dest + 1, value, t.pe((me + t.size() - 1) % t.size()));
      shmem::barrier(g, t);
      if (g.member() == 0) dest.on(g.pe())[0] = dest.on(g.pe())[1];
    }
  }

  template <class Group>
  STARLING_HD void reduce(const Group& g, const team_step& s, const shmem::team& t, sym<T> dest, sym<T> source,
                          index_t n) const {
    if (s.call == team_call::sum) shmem::sum_reduce(g, t, dest, source, n);
    if (s.call == team_call::product) shmem::prod_reduce(g, t, dest, source, n);
    if (s.call == team_call::maximum) shmem::max_reduce(g, t, dest, source, n);
    if (s.call == team_call::minimum) shmem::min_reduce(g, t, dest, source, n);
    if (s.call == team_call::inscan) shmem::sum_inscan(g, t, dest, source, n);
    if (s.call == team_call::exscan) shmem::sum_exscan(g, t, dest, source, n);
    if constexpr (std::is_integral_v<T>) {
      if (s.call == team_call::conjunction) shmem::and_reduce(g, t, dest, source, n);
      if (s.call == team_call::disjunction) shmem::or_reduce(g, t, dest, source, n);
      if (s.call == team_call::difference) shmem::xor_reduce(g, t, dest, source, n);
    }
  }
};

}  // namespace starling::test
