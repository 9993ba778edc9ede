// The copy engine: who completes a chunk raises its trigger, a word in memory of the host. A stream that waits for it
// copies the chunk to its subscribers and then the word that holds the epoch (triggered_copies;
// src/region/copy_plan.cpp says which stream waits for what). No block sends anything, and nothing polls on the GPU.
//
// Order. The trigger is raised with a release at system scope, behind the chunk and its epoch: the waiting stream is
// not of this PE's blocks. The epoch has a word for each buffer, because a chunk may be complete for the next epoch
// before this one is sent; it stays as it is until the buffer is used again, and by then it has been sent.
#pragma once

#include "starling/machine/triggered_copies.hpp"
#include "starling/region/state.hpp"

namespace starling::region_words::copy_engine {

// See region_words::hand_on and no_more.
STARLING_HD inline void hand_on(const thread& one, const region_state& s, int c, std::uint64_t epoch, where at) {
  s.made.on(one.pe())[static_cast<index_t>(c) * s.buffers + s.buffer_of(epoch)] = epoch;
  one.atomic_set(s.triggers + c, epoch, one.pe(), cuda::memory_order_release, at);
}

STARLING_HD inline void no_more(const block& b, const region_state& s, where at) {
  if (target::on_gpu) return;
  const int pe = b.pe();
  const int first = s.chunk_at.on(pe)[pe];
  b.for_each(s.chunk_at.on(pe)[pe + 1] - first, [&](index_t c) {
    const std::uint64_t last = s.arrived.on(pe)[first + c].value;
    raise_no_more(b.thread(), s.triggers + c, last, at);
  });
}

}  // namespace starling::region_words::copy_engine
