// What tiles have of a chunk, and how it comes to the chunk's subscribers: for flushes, for the agent that sends
// what they have left, and for agents that send tiles.
#pragma once

#include "starling/region/state.hpp"

namespace starling::region_words {

// Calls f(begin, end) for the elements of tile `t` that are in chunk `c` of the part.
template <class F>
STARLING_HD void each_piece(const region_state& s, int pe, int t, int c, const F& f) {
  const index_range chunk = s.elements_of(pe, c);
  for (std::int32_t r = s.range_at.on(pe)[t]; r < s.range_at.on(pe)[t + 1]; ++r) {
    const index_range mine = s.ranges.on(pe)[r];
    const index_t begin = mine.begin > chunk.begin ? mine.begin : chunk.begin;
    const index_t end = mine.end < chunk.end ? mine.end : chunk.end;
    if (begin < end) f(begin, end);
  }
}

// To all subscribers of the chunk, in rotated order. By all of a block or warp.
template <class T, class Group>
STARLING_HD void put_piece(const Group& b, const region_state& s, sym<T> values, int t, int c, where at) {
  const int pe = b.pe();
  const int chunk = s.chunk_at.on(pe)[pe] + c;
  each_piece(s, pe, t, c, [&](index_t begin, index_t end) {
    for (int k = 1; k < b.n_pes(); ++k) {
      const int to = (pe + k) % b.n_pes();
      if (s.gets(pe, chunk, to)) b.put(values + begin, values.on(pe) + begin, end - begin, to, at);
    }
  });
}

}  // namespace starling::region_words
