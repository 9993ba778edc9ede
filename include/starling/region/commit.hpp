// What happens when a tile has been written: its chunks are counted, and who completes one hands it to the agent, or,
// where stores have gone out inline, tells the other PEs (PROACT, III-B; the counter grows instead of being reset).
//
// Order. A block's barrier puts the tile's stores before its first warp's counting, which releases; who counts last has
// acquired what all others released, and hands it on by the signal that it raises: to the agent, to its own PE, and
// with inline stores to every subscriber, with a release at system scope.
#pragma once

#include "starling/region/agents.hpp"
#include "starling/region/verify.hpp"

namespace starling::region_words {

// All tiles of chunk `c` of the part have epoch `epoch`. If all of them left it unchanged, subscribers get the word
// that says so in place of the elements.
template <class T>
STARLING_HD void ready(const thread& one, const region_state& s, sym<T> values, index_t pitch, int c,
                       std::uint64_t epoch, where at) {
  const int pe = one.pe();
  const int chunk = s.chunk_at.on(pe)[pe] + c;
  const bool kept = s.stored.on(pe)[s.word_of(c, epoch)] != epoch;
  std::uint64_t how = region_item::whole;
  if (s.flushes && s.in_pieces.on(pe)[s.word_of(c, epoch)] == epoch) how = region_item::pieces;
  if (kept) {
    how = region_item::kept;
    *s.kept_in(epoch, chunk).on(pe) = epoch;
    ++s.left_out.on(pe)[c];
  }
  if (s.to_host() || s.has_others(pe, one.n_pes(), chunk))
    hand_on(one, s, values, pitch, c, epoch, how, at);
  else if (s.has_agent() && s.awaits_sent())
    one.signal_set(s.sent + c, epoch, pe, at);
  one.signal_set(s.arrived + chunk, epoch, pe, at);
}

// Which chunks of a tile a lane counts: each `step`th from its own on. Looked up before the tile is done.
struct commit_share {
  std::int32_t next = 0, end = 0, step = 1;
  std::int32_t chunk = 0;
  std::uint64_t writers = 0;

  STARLING_HD void begin(const region_state& s, int pe, int tile, const warp& w) {
    next = s.tile_chunk_at.on(pe)[tile] + w.member();
    end = s.tile_chunk_at.on(pe)[tile + 1];
    step = w.members();
    look(s, pe);
  }
  STARLING_HD void advance(const region_state& s, int pe) {
    next += step;
    look(s, pe);
  }
  STARLING_HD void look(const region_state& s, int pe) {
    if (next >= end) return;
    chunk = s.tile_chunks.on(pe)[next];
    writers = s.writers.on(pe)[chunk];
  }
};

// A tile has epoch `epoch`, for which it was stored or left unchanged. By lanes of one warp, each its share of the
// chunks, after the barrier of their block: a chunk takes several trips to memory. Whoever stores a chunk says so
// before its counting, so that who counts last knows. The word is of the buffer: with credits a fast block may be an
// epoch ahead.
template <class T>
STARLING_HD void commit(const thread& one, const region_state& s, sym<T> values, index_t pitch, commit_share of,
                        std::uint64_t epoch, bool stored, where at) {
  const int pe = one.pe();
  const int first = s.chunk_at.on(pe)[pe];
  for (; of.next < of.end; of.advance(s, pe)) {
    const std::int32_t c = of.chunk;
    const std::uint64_t writers = of.writers;
    const std::uint64_t wanted = writers * s.use_of(epoch);
    const index_t word = s.word_of(c, epoch);
    if (stored) note(one, s.stored + word, epoch, at);
    const std::uint64_t all = 1 + count(one, s.committed + word, 1, at);
    const std::uint64_t now = commits_of(all);
    if (now + writers <= wanted) refuse(one, {region_defect::skipped_epoch, first + c, epoch, now - 1}, at);
    if (now > wanted) refuse(one, {region_defect::excess_commit, first + c, writers, now - wanted + writers}, at);
    if (all == wanted && static_cast<bool>(s.hashes) && s.writers_hash())
      send_hash(one, s, first + c, epoch,
                hash_share(one, (values + s.buffer_of(epoch) * pitch).on(pe), s.elements_of(pe, c)), at);
    if (all == wanted) ready(one, s, values, pitch, c, epoch, at);
  }
}

// The last epoch of this PE's first chunk, as its commits say.
STARLING_HD inline std::uint64_t last_committed(const region_state& s, int pe) {
  const auto buffers = static_cast<std::uint64_t>(s.buffers);
  std::uint64_t last = 0;
  for (std::uint64_t k = 0; k < buffers; ++k) {
    const std::uint64_t uses = s.committed.on(pe)[k] / s.writers.on(pe)[0];
    const std::uint64_t epoch = uses == 0 ? 0 : k == 0 ? uses * buffers : (uses - 1) * buffers + k;
    last = epoch > last ? epoch : last;
  }
  return last;
}

// The block is one of `blocks` of this PE that write the region, and has returned from their kernel. The last of them
// looks whether every chunk is whole, keeps the epoch for kernels that come, and tells the agent that no more will
// come. Says whether it was the last.
STARLING_HD inline bool end(const block& b, const region_state& s, int blocks, where at) {
  if (s.sending == region_sending::untracked) return false;
  bool last = false;
  b.sync();
  if (b.member() == 0) {
    block_over(b.thread(), s, at);
    last = is_last(b.thread(), s.ended, blocks, at);
    if (last) note_end(b.thread(), s);
  }
  if (!b.first(last)) return false;
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
  if (b.member() == 0) *s.newest.on(pe) = last_committed(s, pe);
  b.sync();
  no_more(b, s, at);
  return true;
}

// A kernel that writes the region, and what its end means.
template <class F>
struct writing_kernel {
  static constexpr int max_threads = target::most_threads<F>;
  static constexpr int least_blocks = target::least_blocks<F>;
  static constexpr bool one_thread_on_host = target::one_thread_on_host<F>;
  static constexpr bool whole_warps = target::for_whole_warps<F>;

  F f;
  region_state s;
  STARLING_HD void operator()(block& b) const {
    note_begin(b, s);
    f(b);
    end(b, s, b.blocks_per_pe(), where::current());
  }
};

// The same of blocks that have their agent within them, on GPUs.
template <class F, class Agent>
struct writing_kernel_with_warp : writing_kernel<F> {
  Agent agent;
  STARLING_HD void beside(const program_state& launch) const { agent.beside(launch); }
};

}  // namespace starling::region_words
