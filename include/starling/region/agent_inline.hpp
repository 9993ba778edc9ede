// Inline stores: the blocks that write send as they write (PROACT, III-C). On GPUs each store goes to all copies
// (tracked, in tile.hpp), on virtual devices a tile is put when it has been written (region_handle::each_tile); who
// completes a chunk tells its subscribers.
#pragma once

#include "starling/region/host_copy.hpp"
#include "starling/region/timing.hpp"

namespace starling::region_words::inline_stores {

// See region_words::hand_on.
STARLING_HD inline void hand_on(const thread& one, const region_state& s, int c, std::uint64_t epoch, std::uint64_t how,
                                where at) {
  const int pe = one.pe();
  const int chunk = s.chunk_at.on(pe)[pe] + c;
  const sym<std::uint64_t> kept = s.kept_in(epoch, chunk);
  if (s.to_host()) arrive_at_host(one, s, chunk, epoch, at);
  for (int k = 1; k < one.n_pes(); ++k) {
    const int to = (pe + k) % one.n_pes();
    if (!s.gets(pe, chunk, to)) continue;
    if (how == region_item::kept)
      one.put_signal(kept, kept.on(pe), 1, s.arrived + chunk, epoch, to, signal_op::set, at);
    else
      one.signal_set(s.arrived + chunk, epoch, to, at);
  }
  note_arrival(one, s, c, at);
}

}  // namespace starling::region_words::inline_stores
