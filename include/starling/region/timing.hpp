// region_options::timed: when a kernel that writes a region begins and ends, and when its chunks arrive at others; by
// the clock of the PE that sends.
#pragma once

#include "starling/region/state.hpp"

namespace starling::region_words {

// A kernel has begun. By every block.
STARLING_HD inline void note_begin(const block& b, const region_state& s) {
  if (static_cast<bool>(s.times) && b.index() == 0 && b.member() == 0)
    s.times.on(b.pe())[region_state::begun] = target::now_ns();
}

// All its blocks have returned. By one thread.
STARLING_HD inline void note_end(const thread& one, const region_state& s) {
  if (static_cast<bool>(s.times)) s.times.on(one.pe())[region_state::over] = target::now_ns();
}

// Chunk `c` of the part has arrived at the PEs that get it. By one thread. Who tells of the next epoch may do so at the
// same time.
STARLING_HD inline void note_arrival(const thread& one, const region_state& s, int c, where at) {
  if (!static_cast<bool>(s.times)) return;
  const std::uint64_t now = target::now_ns();
  const sym<std::uint64_t> words = s.times + region_state::of_chunks + 2 * c;
  (void)one.atomic_compare_swap(words, 0, now, one.pe(), cuda::memory_order_relaxed, at);
  one.atomic_set(words + 1, now, one.pe(), cuda::memory_order_relaxed, at);
}

// A block has waited since `start`. By every block.
STARLING_HD inline void note_waited(const block& b, const region_state& s, std::uint64_t start, where at) {
  if (!static_cast<bool>(s.times) || b.member() != 0) return;
  (void)b.thread().atomic_fetch_add(s.times + region_state::waited, target::now_ns() - start, b.pe(),
                                    cuda::memory_order_relaxed, at);
}

}  // namespace starling::region_words
