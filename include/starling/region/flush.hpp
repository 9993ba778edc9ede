// Flush: what a block has committed comes to the subscribers before its next signal, also of chunks that are not ready.
//
// Each element comes to each subscriber once in an epoch, so that who has been told of it may read it. Inline stores
// have sent tiles when they are committed; a flush then has to complete them only. Where an agent sends whole chunks, a
// flush *holds* a chunk that is not ready: its counter has holds beside commits, and the chunk is ready when all tiles
// have been committed and nobody holds it. Under the hold the block sends its tile's part of the chunk and says so, and
// the agent sends the rest alone. A chunk that is ready is the agent's: the flush waits until it has been sent.
#pragma once

#include "starling/region/commit.hpp"
#include "starling/region/pieces.hpp"

namespace starling::region_words {

// Keeps a chunk from being ready for `epoch`; false: it is, or has been.
STARLING_HD inline bool hold(const thread& one, const region_state& s, int c, std::uint64_t epoch, where at) {
  const sym<std::uint64_t> word = s.committed + s.word_of(c, epoch);
  const std::uint64_t wanted = s.writers.on(one.pe())[c] * s.use_of(epoch);
  std::uint64_t seen = noted(one, word, at);
  while (commits_of(seen) < wanted || (commits_of(seen) == wanted && holds_of(seen) != 0)) {
    const std::uint64_t before = seen;
    seen = swap_if(one, word, before, before + one_hold, at);
    if (seen == before) return true;
  }
  return false;
}

// Ends a hold, and hands the chunk on if that was all that it lacked.
template <class T>
STARLING_HD void let_go(const thread& one, const region_state& s, sym<T> values, index_t pitch, int c,
                        std::uint64_t epoch, where at) {
  const std::uint64_t wanted = s.writers.on(one.pe())[c] * s.use_of(epoch);
  const std::uint64_t now = count(one, s.committed + s.word_of(c, epoch), ~one_hold + 1, at) - one_hold;
  if (now == wanted) ready(one, s, values, pitch, c, epoch, at);
}

// Tile `t`, which the block has committed for `epoch`.
template <class T>
STARLING_HD void flush_tile(const block& b, const region_state& s, sym<T> values, index_t pitch, int t,
                            std::uint64_t epoch, where at) {
  const int pe = b.pe();
  for (std::int32_t i = s.tile_chunk_at.on(pe)[t]; i < s.tile_chunk_at.on(pe)[t + 1]; ++i) {
    std::uint64_t& sent = s.flushed.on(pe)[s.word_of(i, epoch)];
    if (sent == epoch) continue;
    const int c = s.tile_chunks.on(pe)[i];
    bool mine = false;
    if (b.member() == 0) mine = hold(b.thread(), s, c, epoch, at);
    if (!b.first(mine)) {
      b.wait(s.sent + c, epoch, pe, at);
      continue;
    }
    put_piece(b, s, values + s.buffer_of(epoch) * pitch, t, c, at);
    b.sync();
    if (b.member() == 0) {
      sent = epoch;
      note(b.thread(), s.in_pieces + s.word_of(c, epoch), epoch, at);
      let_go(b.thread(), s, values, pitch, c, epoch, at);
    }
  }
}

// All that the block has committed.
template <class T>
STARLING_HD void flush(const block& b, const region_state& s, sym<T> values, index_t pitch, where at) {
  if (!s.flushes) refuse(b.thread(), {region_defect::no_flush, 0, 0, 0}, at);
  const int pe = b.pe();
  for (int m = 0; m < s.mappings && s.agent == region_agent::polling && b.n_pes() > 1; ++m)
    for (int t = s.tile_at.on(pe)[m] + b.rank(); t < s.tile_at.on(pe)[m + 1]; t += b.count()) {
      std::uint64_t done = 0;
      if (b.member() == 0) done = noted(b.thread(), s.done + t, at);
      done = b.first(done);
      if (done % most_blocks != static_cast<std::uint64_t>(b.index()) || done < most_blocks) continue;
      flush_tile(b, s, values, pitch, t, done / most_blocks, at);
    }
  b.quiet();
}

}  // namespace starling::region_words
