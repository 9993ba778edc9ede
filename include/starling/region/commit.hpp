// What happens when a tile has been written: its chunks are counted, and who completes one hands it to the agent, or,
// where stores have gone out inline, tells the other PEs (PROACT, III-B; the counter grows instead of being reset).
//
// Order. A block's barrier puts the tile's stores before its leader's counting, which releases; who counts last has
// acquired what all others released, and hands it on by the signal that it raises: to the agent, to its own PE, and
// with inline stores to every subscriber, with a release at system scope.
#pragma once

#include "starling/region/host_copy.hpp"
#include "starling/region/timing.hpp"
#include "starling/region/verify.hpp"

namespace starling::region_words {

// The agent block that sends chunk `c` of the part gets it.
STARLING_HD inline void push(const thread& one, const region_state& s, int agent, const region_item& item, where at) {
  const std::uint64_t ticket = count(one, s.tickets + agent, 1, at);
  const index_t slot = static_cast<index_t>(agent) * s.queue_slots +
                       static_cast<index_t>(ticket % static_cast<std::uint64_t>(s.queue_slots));
  s.items.on(one.pe())[slot] = item;
  one.signal_set(s.filled + slot, ticket + 1, one.pe(), at);
}

// All tiles of chunk `c` of the part have epoch `epoch`.
STARLING_HD inline void ready(const thread& one, const region_state& s, int c, std::uint64_t epoch, where at) {
  const int chunk = s.chunk_at.on(one.pe())[one.pe()] + c;
  bool others = s.to_host();
  if (s.to_host() && s.writers_tell()) arrive_at_host(one, s, chunk, epoch, at);
  for (int k = 1; k < one.n_pes(); ++k) {
    const int pe = (one.pe() + k) % one.n_pes();
    if (!s.gets(one.pe(), chunk, pe)) continue;
    others = true;
    if (s.writers_tell()) one.signal_set(s.arrived + chunk, epoch, pe, at);
  }
  if (s.has_agent()) {
    if (others)
      push(one, s, c % s.agent_blocks, {epoch, c}, at);
    else if (s.awaits_sent())
      one.signal_set(s.sent + c, epoch, one.pe(), at);
  } else if (others) {
    note_arrival(one, s, c, at);
  }
  one.signal_set(s.arrived + chunk, epoch, one.pe(), at);
}

// Tile `t` has epoch `epoch`. By one thread, after the barrier of its block. `values`: where the epoch lies.
template <class T>
STARLING_HD void commit(const thread& one, const region_state& s, const T* values, int t, std::uint64_t epoch,
                        where at) {
  const int pe = one.pe();
  const int first = s.chunk_at.on(pe)[pe];
  for (std::int32_t i = s.tile_chunk_at.on(pe)[t]; i < s.tile_chunk_at.on(pe)[t + 1]; ++i) {
    const std::int32_t c = s.tile_chunks.on(pe)[i];
    const std::uint64_t writers = s.writers.on(pe)[c];
    const std::uint64_t wanted = writers * s.use_of(epoch);
    const std::uint64_t now =
        1 + count(one, s.committed + (static_cast<index_t>(c) * s.buffers + s.buffer_of(epoch)), 1, at);
    if (now + writers <= wanted) refuse(one, {region_defect::skipped_epoch, first + c, epoch, now - 1}, at);
    if (now > wanted) refuse(one, {region_defect::excess_commit, first + c, writers, now - wanted + writers}, at);
    if (now == wanted && static_cast<bool>(s.hashes) && s.writers_tell())
      send_hash(one, s, first + c, epoch, hash_share(one, values, s.elements_of(pe, c)), at);
    if (now == wanted) ready(one, s, c, epoch, at);
  }
}

// The block has returned from a kernel that writes the region. The last of its program looks whether every chunk is
// whole, and tells the agent that no more will come.
STARLING_HD inline void end(const block& b, const region_state& s, where at) {
  if (s.sending == region_sending::untracked) return;
  bool last = false;
  b.sync();
  if (b.member() == 0) {
    last = is_last(b.thread(), s.ended, b.blocks_per_pe(), at);
    if (last) note_end(b.thread(), s);
  }
  if (!b.first(last)) return;
  const int pe = b.pe();
  const int first = s.chunk_at.on(pe)[pe];
  const index_t counters = static_cast<index_t>(s.chunk_at.on(pe)[pe + 1] - first) * s.buffers;
  region_fault found{region_defect::part_filled, -1, 0, 0};
  b.for_each(counters, [&](index_t i) {
    const std::uint64_t writers = s.writers.on(pe)[i / s.buffers];
    const std::uint64_t commits = s.committed.on(pe)[i];
    if (commits % writers != 0) found = {region_defect::part_filled, first + i / s.buffers, writers, commits % writers};
  });
  if (found.number >= 0) refuse(b.thread(), found, at);
  b.sync();
  if (b.member() == 0 && s.has_agent() && s.leaves(b.n_pes()))
    for (int j = 0; j < s.agent_blocks; ++j) push(b.thread(), s, j, {0, region_item::end}, at);
}

// A kernel that writes the region, and what its end means.
template <class F>
struct writing_kernel {
  F f;
  region_state s;
  STARLING_HD void operator()(block& b) const {
    note_begin(b, s);
    f(b);
    end(b, s, where::current());
  }
};

}  // namespace starling::region_words
