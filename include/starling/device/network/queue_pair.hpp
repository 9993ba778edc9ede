// A queue pair: a ring of entries on which a block asks a card for work, and a ring of completions by which it answers;
// one for each context of a block and each PE behind the card. Plain data in memory that both reach. Made by the host,
// which posts templates into all slots ahead (template_of); blocks use it through sender (sender.hpp).
#pragma once

#include "starling/device/network/completion.hpp"

namespace starling::network {

// Entries' indices have 16 bits, and those under way must be told apart.
inline constexpr std::uint32_t least_depth = 2;
inline constexpr std::uint32_t most_depth = std::uint32_t{1} << 15;
constexpr bool is_depth(std::uint64_t n) { return n >= least_depth && n <= most_depth && (n & (n - 1)) == 0; }

// A part of memory that cards may touch, by its key. Those of the PEs come first, in their order, then `shared` ones,
// which are of no PE alone.
struct memory_region {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  std::uint32_t rights = 0;

  STARLING_HD constexpr bool holds(std::uint64_t address, std::uint64_t n) const {
    return address >= begin && n <= bytes && address - begin <= bytes - n;
  }
};
inline constexpr std::uint32_t may_read = 1;    // cards, for a put's source or a get
inline constexpr std::uint32_t may_write = 2;   // cards, for a put or a get's destination
inline constexpr std::uint32_t may_change = 4;  // atomic operations of cards
inline constexpr std::uint32_t all_rights = may_read | may_write | may_change;
inline constexpr std::uint32_t no_key = 0;

struct region_table {
  const memory_region* regions = nullptr;
  int pes = 0;
  int all = 0;

  // The key of memory of a PE, whose region is `of_pe`; no_key: no card reaches it.
  STARLING_HD std::uint32_t key_of(const memory_region& of_pe, const void* address, std::uint64_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (of_pe.holds(at, bytes)) return of_pe.key;
    for (int i = pes; i < all; ++i)
      if (regions[i].holds(at, bytes)) return regions[i].key;
    return no_key;
  }
};

// What the block counts; numbers of entries go on, of which the low 16 bits are in the entries. Words that the block's
// warps share.
struct queue_state {
  std::uint64_t reserved = 0;    // the next entry that nobody has taken
  std::uint64_t published = 0;   // the card has been told of all before
  std::uint64_t completed = 0;   // the card has done all before
  std::uint64_t polled = 0;      // completions seen
  std::uint64_t asked = 0;       // completions that the card has been asked for
  std::uint32_t polling = 0;     // a warp looks for completions
  std::uint32_t fence_next = 0;  // the next entry comes after all before
  std::uint32_t error = 0;       // status of the first entry that failed
  std::uint64_t failed = 0;      // its number
  std::uint64_t recorded = 0;    // of a traced block: completions of all before are in its trace
};

struct queue_pair {
  entry* ring = nullptr;
  // By slot: what stands in its entry and stays there, kept_by. Near to the block: each entry asks for it.
  std::uint8_t* kept = nullptr;
  completion* completions = nullptr;
  std::uint64_t* record = nullptr;             // doorbell record: the next number, 16 bits, big-endian
  std::uint64_t* doorbell = nullptr;           // word 0 of the last entry
  std::uint64_t* completion_record = nullptr;  // completions seen, 32 bits, big-endian
  queue_state* state = nullptr;
  std::byte* staging = nullptr;  // for data that the card does not reach
  std::uint32_t staging_bytes = 0;
  std::uint32_t staging_key = no_key;
  std::uint32_t number = 0;
  std::uint32_t depth = 0;
  int pe = 0;    // whose queue it is
  int peer = 0;  // at the far side
  region_table memory;
  memory_region own;      // of `memory`: that of the own PE
  memory_region at_peer;  // and that of the peer
};

// What an entry keeps from one use of its slot to the next, if that is one of the same kind: its flags and the key of
// the peer's own memory. The rest of words 1 and 3 is 0. `unlike_others`: it has another key.
inline constexpr std::uint8_t unlike_others = 0xff;
STARLING_HD constexpr std::uint8_t kept_by(std::uint8_t flags, std::uint32_t remote_key, const queue_pair& q) {
  return remote_key == q.at_peer.key ? flags : unlike_others;
}

// A put to the peer that asks for a completion, whose index, addresses and size are still to come.
STARLING_HD inline order template_of(std::uint32_t queue, std::uint32_t remote_key) {
  order o;
  o.flags = wants_completion;
  o.queue = queue;
  o.remote_key = remote_key;
  return o;
}

// Makes all places as they are before the first use. `first`: the number of the first entry.
STARLING_HD inline void prepare(const queue_pair& q, std::uint64_t first) {
  const std::uint32_t key = q.at_peer.key;
  for (std::uint32_t i = 0; i < q.depth; ++i) {
    q.ring[i] = built(template_of(q.number, key));
    q.kept[i] = kept_by(wants_completion, key, q);
    q.completions[i] = {};
    q.completions[i].word[7] = big_endian(never_written());
  }
  *q.record = big_endian(first & 0xffff);
  *q.doorbell = 0;
  *q.completion_record = 0;
  *q.state = {first, first, first, 0, 0, 0, 0, 0, 0, first};
}

}  // namespace starling::network
