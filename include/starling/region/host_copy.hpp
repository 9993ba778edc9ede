// The host as a subscriber (subscribers::and_host): a copy of the region in memory of the host, with an arrival word
// for each chunk, which threads of the host read while kernels run. The host gives no credit: an epoch is there until
// the one that takes its buffer is sent.
#pragma once

#include "starling/region/state.hpp"

namespace starling::region_words {

// Where the host has epoch `epoch`. `pitch`: elements between buffers.
template <class T>
STARLING_HD T* on_host(const region_state& s, index_t pitch, std::uint64_t epoch) {
  return static_cast<T*>(s.host_values) + s.buffer_of(epoch) * pitch;
}

// Stores n elements there. By all of the group; the source may be reused.
template <class T, class Group>
STARLING_HD void put_to_host(const Group& g, T* to, const T* source, index_t n, where at) {
  g.put(sym<T>(to, 0), source, n, g.pe(), at);
}

// Chunk `chunk` of all has arrived there, with what the group, and those whom it has acquired of, stored to it. By all
// of the group.
template <class Group>
STARLING_HD void arrive_at_host(const Group& g, const region_state& s, int chunk, std::uint64_t epoch, where at) {
  signal* word = s.host_arrived + chunk;
  if constexpr (target::on_gpu) {
    g.sync();
    if (g.member() == 0) gpu::system_atomic(word->value).store(epoch, cuda::memory_order_release);
  } else {
    g.fence();
    g.signal_set(sym<signal>(word, 0), epoch, g.pe(), at);
  }
}

}  // namespace starling::region_words
