// region_options::verify: who sends a chunk hashes it as it has it, and sends the hash before the chunk's arrival; of
// each PE that gets it, the first block that awaits it, and may read it, hashes what has come. Slow: for finding out
// why values are wrong.
#pragma once

#include "starling/region/state.hpp"

namespace starling::region_words {

STARLING_HD inline std::uint64_t mixed(std::uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

// This thread's share of the hash of some elements. Shares are added up, so the hash is that of any group.
template <class T, class Group>
STARLING_HD std::uint64_t hash_share(const Group& g, const T* values, index_range elements) {
  constexpr std::size_t words = (sizeof(T) + 7) / 8;
  std::uint64_t sum = 0;
  for (index_t i = elements.begin + g.member(); i < elements.end; i += g.members()) {
    std::uint64_t of_value[words] = {};
    __builtin_memcpy(of_value, values + i, sizeof(T));
    std::uint64_t h = static_cast<std::uint64_t>(i) + 1;
    for (const std::uint64_t w : of_value) h = mixed(h ^ w) + 0x9e3779b97f4a7c15u;
    sum += h;
  }
  return sum;
}

// Sends a chunk's hash, `chunk` of all, to the PEs that get it, before the signals that come after. By all of the
// group; `hash` counts on its first thread.
template <class Group>
STARLING_HD void send_hash(const Group& g, const region_state& s, int chunk, std::uint64_t epoch, std::uint64_t hash,
                           where at) {
  for (int k = 1; k < g.n_pes(); ++k) {
    const int to = (g.pe() + k) % g.n_pes();
    if (s.gets(g.pe(), chunk, to)) g.p(s.hash_word(chunk, epoch), hash, to, at);
  }
  g.fence();
}

// Whether this is the first block of the PE that looks at this epoch of a chunk.
STARLING_HD inline bool first_to_verify(const block& b, const region_state& s, int chunk, std::uint64_t epoch,
                                        where at) {
  bool first = false;
  if (b.member() == 0) {
    const thread one = b.thread();
    const sym<std::uint64_t> word = s.verified + chunk;
    std::uint64_t seen = one.atomic_fetch(word, b.pe(), cuda::memory_order_relaxed, at);
    while (!first && seen < epoch) {
      const std::uint64_t had = one.atomic_compare_swap(word, seen, epoch, b.pe(), cuda::memory_order_relaxed, at);
      first = had == seen;
      seen = had;
    }
  }
  return b.first(first);
}

// Ends the program unless chunk `chunk` of all, which has arrived, is as it was sent.
template <class T>
STARLING_HD void verify(const block& b, const region_state& s, const T* values, int chunk, std::uint64_t epoch,
                        where at) {
  const int pe = b.pe();
  if (s.owner_of(pe, chunk) == pe || !first_to_verify(b, s, chunk, epoch, at)) return;
  const std::uint64_t here = b.reduce(hash_share(b, values, s.elements_of_chunk(pe, chunk)), plus{});
  if (here == *s.hash_word(chunk, epoch).on(pe)) return;
  const std::uint64_t arrived = gpu::system_atomic((s.arrived + chunk).on(pe)->value).load(cuda::memory_order_relaxed);
  refuse(b.thread(), {region_defect::altered, chunk, epoch, arrived}, at);
}

}  // namespace starling::region_words
