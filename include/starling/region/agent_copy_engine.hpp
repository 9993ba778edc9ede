// The copy engine: who completes a chunk raises its trigger, a word in memory of the host. A stream that waits for it
// copies the chunk to its subscribers and then the word that holds the epoch (triggered_copies;
// src/region/copy_plan.cpp says which stream waits for what). No block sends anything, and nothing polls on the GPU.
//
// Order. The trigger is raised with a release at system scope, behind the chunk and its epoch: the waiting stream is
// not of this PE's blocks. The epoch has a word for each buffer, because a chunk may be complete for the next epoch
// before this one is sent; it stays as it is until the buffer is used again, and by then it has been sent.
//
// In a launch the stream beside it waits for words in the PE's own memory, and its copies are put in when it is, or
// once for all where it is recorded: they have the buffer that the launch begins with.
#pragma once

#include "starling/machine/triggered_copies.hpp"
#include "starling/region/state.hpp"

namespace starling::region_words::copy_engine {

// See region_words::hand_on and no_more.
STARLING_HD inline void hand_on(const thread& one, const region_state& s, int c, std::uint64_t epoch, where at) {
  const std::uint64_t launch = *s.launched.on(one.pe());
  const auto buffer = static_cast<std::uint64_t>(s.buffer_of(epoch));
  if (launch != 0 && launch != buffer + 1)
    refuse(one, {region_defect::other_buffer, static_cast<std::int64_t>(epoch), launch - 1, buffer}, at);
  const sym<std::uint64_t> made = launch != 0 ? s.launch_made : s.made;
  const sym<std::uint64_t> triggers = launch != 0 ? s.launch_triggers : s.triggers;
  made.on(one.pe())[s.word_of(c, epoch)] = epoch;
  one.atomic_set(triggers + c, epoch, one.pe(), cuda::memory_order_release, at);
}

STARLING_HD inline void no_more(const block& b, const region_state& s, where at) {
  const int pe = b.pe();
  if (target::on_gpu || *s.launched.on(pe) != 0) return;
  const int first = s.chunk_at.on(pe)[pe];
  b.for_each(s.chunk_at.on(pe)[pe + 1] - first, [&](index_t c) {
    const std::uint64_t last = s.arrived.on(pe)[first + c].value;
    raise_no_more(b.thread(), s.triggers + c, last, at);
  });
}

}  // namespace starling::region_words::copy_engine
