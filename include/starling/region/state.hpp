// What kernels know of a region, whatever its element type: where parts, chunks and tiles are, and the words by which
// writers, agents and readers announce their progress to each other. Plain data; made by region_memory.
//
// Words of chunks only grow. An epoch is a number from 1 on; epoch e lies in buffer e % buffers, whose ceil(e /
// buffers)-th use it is. A chunk is ready when all its tiles have committed: its count in that buffer is then that many
// times its writers.
#pragma once

#include "starling/device/block.hpp"
#include "starling/device/region_report.hpp"
#include "starling/region/options.hpp"

namespace starling {

// A chunk for the agent to send.
struct region_item {
  static constexpr std::int64_t end = -1;  // in place of a chunk: there will be no more

  std::uint64_t epoch;
  std::int64_t chunk;  // of the part; as wide as the epoch, so that all bytes of an item are written
  std::uint64_t how;   // to send it
  // All its tiles were left unchanged, so that the subscribers have it; some have been flushed.
  static constexpr std::uint64_t whole = 0, kept = 1, pieces = 2;
};

// How blocks hand tiles to their own warps: see agent_own_warp.hpp. Of each block of a kernel that writes, by number.
struct region_rings {
  static constexpr int slots = 16;  // of each; who finds all taken waits

  sym<region_item> items;      // [blocks][slots] `chunk` is a tile
  sym<signal> filled;          // [blocks][slots] 1 + ticket of the item
  sym<signal> served;          // [blocks] items so far
  sym<std::uint64_t> tickets;  // [blocks] given out, by the block alone
};

// A chunk that paced links are to have carried at a time.
struct region_due {
  std::uint64_t ns;
  region_item item;
};

struct region_state {
  index_t size = 0;
  int buffers = 1;
  int chunks = 0;  // of all parts
  index_t chunk_elements = 0;
  region_agent agent = region_agent::polling;
  int agent_blocks = 1;
  int queue_slots = 1;  // of each agent block
  bool credits = false;
  bool flushes = false;
  int mappings = 1;
  region_sending sending = region_sending::all;
  double ns_per_byte = 0;        // of paced links, for one agent block
  std::uint64_t latency_ns = 0;  // the same

  // The same on every PE.
  sym<const index_t> bounds;             // [PEs + 1] where parts begin
  sym<const std::int32_t> chunk_at;      // [PEs + 1] number of each part's first chunk
  sym<const std::uint64_t> subscribers;  // [chunks] bit p: PE p gets it; null: every PE gets all
  sym<const std::int32_t> got;           // [chunks] numbers of those that the PE gets, n_got of them; null: all
  sym<const std::int32_t> n_got;         // [1]
  sym<const std::uint64_t> readers;      // [PEs] who gets chunks of that PE, itself included

  // Of the PE's own part: see part_layout in src/region/layout.hpp.
  sym<const std::int32_t> tile_at;
  sym<const index_range> ranges;
  sym<const std::int32_t> range_at;
  sym<const std::int32_t> tile_chunks;
  sym<const std::int32_t> tile_chunk_at;
  sym<const std::uint64_t> writers;

  sym<std::uint64_t> committed;  // [chunks of the part][buffers] commits so far, and holds: see flush.hpp
  sym<std::uint64_t> stored;     // [chunks of the part][buffers] last epoch in it that a tile has stored
  sym<std::uint64_t> left_out;   // [chunks of the part] epochs that left it unchanged
  sym<std::uint64_t> kept;       // [buffers][chunks] last epoch in it that left the chunk unchanged; comes as data does
  // With flushes.
  sym<const std::int32_t> chunk_tiles;    // tiles that write each chunk of the part
  sym<const std::int32_t> chunk_tile_at;  // [chunks of the part + 1] where those begin
  sym<std::uint64_t> done;                // [tiles] last epoch committed, times most_blocks, and the block that did
  sym<std::uint64_t> flushed;             // [as tile_chunks][buffers] last epoch in it in which a flush sent that
  sym<std::uint64_t> in_pieces;           // [chunks of the part][buffers] last epoch in it in which a flush sent some

  // With own warps.
  sym<std::uint64_t> shipped;     // [chunks of the part][buffers] tiles that have been sent, or needed not be
  sym<const region_rings> rings;  // [1]

  sym<std::uint64_t> handed;  // [chunks of the part] with launched copies: epochs that are complete and not sent
  sym<std::uint64_t> ended;   // [1] blocks of kernels that write it and have returned
  sym<std::uint64_t> newest;  // [1] last epoch that kernels of this PE have written, once they are over
  sym<signal> arrived;        // [chunks] last epoch of the chunk that this PE has
  sym<signal> sent;           // [chunks of the part] last epoch that the agent has sent
  sym<std::uint64_t> given;   // [buffers] blocks that have given credit for the epoch in it
  sym<signal> credit;         // [PEs] 1 + the last epoch that the PE's blocks have read

  // Agent block j of a PE sends the chunks j, j + agent_blocks, ... of its part, in the order of their tickets.
  sym<std::uint64_t> tickets;   // [agent blocks] given out
  sym<region_item> items;       // [agent blocks][queue slots]
  sym<signal> filled;           // [agent blocks][queue slots] 1 + ticket of the item
  sym<signal> served;           // [agent blocks] items so far
  sym<region_due> due;          // [agent blocks][queue slots] chunks on their way; null: links are not paced
  sym<std::uint64_t> hashes;    // [buffers][chunks] of chunks that have come, as they were sent; null: not verified
  sym<std::uint64_t> verified;  // [chunks] last epoch that a block of this PE has compared, or does
  sym<std::uint64_t> times;     // see below, and of each chunk of the part first and last arrival; null: not timed
  static constexpr index_t begun = 0, over = 1, waited = 2, of_chunks = 3;
  sym<std::uint64_t> reached;  // [1] with region_sending::untracked: the last epoch that was begun

  // The host's copy, if it subscribes.
  void* host_values = nullptr;     // [buffers][pitch]
  signal* host_arrived = nullptr;  // [chunks] last epoch of each that is there

  STARLING_HD bool to_host() const { return host_arrived != nullptr; }
  // Whether anything leaves a PE of so many.
  STARLING_HD bool leaves(int pes) const { return pes > 1 || to_host(); }
  // Whether writers wait until the agent has sent what a buffer holds: nobody else says that it has.
  STARLING_HD bool awaits_sent() const { return credits || to_host() || flushes; }

  // Whether an agent works beside kernels if anything leaves a PE.
  STARLING_HD bool has_agent() const {
    return agent != region_agent::inline_stores &&
           (sending == region_sending::all || sending == region_sending::elide_stores);
  }
  // Whether tiles are handed to own warps.
  STARLING_HD bool has_own_warps(int pes) const {
    return agent == region_agent::own_warp && has_agent() && leaves(pes);
  }
  // Whether the blocks that write signal chunks to the other PEs.
  STARLING_HD bool writers_tell() const { return !has_agent(); }
  // Whether they hash what is sent: a copy engine cannot.
  STARLING_HD bool writers_hash() const { return writers_tell() || agent == region_agent::copy_engine; }
  // Whether the blocks that write store to other PEs.
  STARLING_HD bool stores_inline() const {
    return agent == region_agent::inline_stores && sending == region_sending::all;
  }

  // The copy engine's: see agent_copy_engine.hpp.
  sym<std::uint64_t> triggers;  // [chunks of the part] in memory of the host
  sym<std::uint64_t> made;      // [chunks of the part][buffers] the epoch that is there; likewise
  // The same of launches, in memory of the PE.
  sym<std::uint64_t> launched;         // [1] 1 + the buffer that the copies of the launch under way are of; 0: none is
  sym<std::uint64_t> launch_triggers;  // [chunks of the part] not 0: made
  sym<std::uint64_t> launch_made;

  // Tables are read as PE `here` has them, the caller's.
  STARLING_HD bool gets(int here, int chunk, int pe) const {
    return !static_cast<bool>(subscribers) || (subscribers.on(here)[chunk] >> pe & 1) != 0;
  }
  // Whether anybody but its owner, the caller, gets a chunk.
  STARLING_HD bool has_others(int here, int n_pes, int chunk) const {
    for (int pe = 0; pe < n_pes; ++pe)
      if (pe != here && gets(here, chunk, pe)) return true;
    return false;
  }
  STARLING_HD bool reads(int here, int owner, int pe) const { return (readers.on(here)[owner] >> pe & 1) != 0; }
  // Which use of its buffer an epoch is.
  STARLING_HD std::uint64_t use_of(std::uint64_t epoch) const {
    const auto b = static_cast<std::uint64_t>(buffers);
    return (epoch + b - 1) / b;
  }
  STARLING_HD int buffer_of(std::uint64_t epoch) const {
    return static_cast<int>(epoch % static_cast<std::uint64_t>(buffers));
  }
  // Of a chunk of the part, or of a tile's chunk, among words of these and of buffers.
  STARLING_HD index_t word_of(int c, std::uint64_t epoch) const {
    return static_cast<index_t>(c) * buffers + buffer_of(epoch);
  }
  // Where `kept` tells of a chunk in an epoch.
  STARLING_HD sym<std::uint64_t> kept_in(std::uint64_t epoch, int chunk) const {
    return kept + (static_cast<index_t>(buffer_of(epoch)) * chunks + chunk);
  }
  // The PE whose chunk it is.
  STARLING_HD int owner_of(int here, int chunk) const {
    int owner = 0;
    while (chunk >= chunk_at.on(here)[owner + 1]) ++owner;
    return owner;
  }
  // The number of the chunk that holds an element.
  STARLING_HD int chunk_of(int here, index_t element) const {
    int owner = 0;
    while (element >= bounds.on(here)[owner + 1]) ++owner;
    return chunk_at.on(here)[owner] + static_cast<int>((element - bounds.on(here)[owner]) / chunk_elements);
  }
  // The elements of a chunk of all, whoever's it is.
  STARLING_HD index_range elements_of_chunk(int here, int chunk) const {
    const int owner = owner_of(here, chunk);
    const index_t begin = bounds.on(here)[owner] + (chunk - chunk_at.on(here)[owner]) * chunk_elements;
    const index_t end = bounds.on(here)[owner + 1];
    return {begin, begin + chunk_elements < end ? begin + chunk_elements : end};
  }
  STARLING_HD sym<std::uint64_t> hash_word(int chunk, std::uint64_t epoch) const {
    return hashes + (static_cast<index_t>(buffer_of(epoch)) * chunks + chunk);
  }
  // The elements of chunk `c` of the part of `here`.
  STARLING_HD index_range elements_of(int here, int c) const {
    return elements_of_chunk(here, chunk_at.on(here)[here] + c);
  }
};

namespace region_words {

inline constexpr std::uint64_t most_blocks = std::uint64_t{1} << 16;  // of a PE
inline constexpr std::uint64_t one_hold = std::uint64_t{1} << 48;
STARLING_HD constexpr std::uint64_t commits_of(std::uint64_t word) { return word % one_hold; }
STARLING_HD constexpr std::uint64_t holds_of(std::uint64_t word) { return word / one_hold; }

// Adds to a word of the group's own PE, with acquire and release among the blocks of that PE, and returns what it was.
// By one thread.
STARLING_HD inline std::uint64_t count(const thread& one, sym<std::uint64_t> word, std::uint64_t more, where at) {
  if constexpr (target::on_gpu)
    return gpu::device_atomic(*word.on(one.pe())).fetch_add(more, cuda::memory_order_acq_rel);
  else
    return one.atomic_fetch_add(word, more, one.pe(), cuda::memory_order_acq_rel, at);
}

// Sets a word of the group's own PE, which others may set alike at the same time; it orders nothing. By one thread.
STARLING_HD inline void note(const thread& one, sym<std::uint64_t> word, std::uint64_t value, where at) {
  if constexpr (target::on_gpu)
    gpu::device_atomic(*word.on(one.pe())).store(value, cuda::memory_order_relaxed);
  else
    one.atomic_set(word, value, one.pe(), cuda::memory_order_relaxed, at);
}

// Reads such a word.
STARLING_HD inline std::uint64_t noted(const thread& one, sym<std::uint64_t> word, where at) {
  if constexpr (target::on_gpu)
    return gpu::device_atomic(*word.on(one.pe())).load(cuda::memory_order_relaxed);
  else
    return one.atomic_fetch(word, one.pe(), cuda::memory_order_relaxed, at);
}

// Sets a word that count adds to, if it is `seen`, and returns what it was. Order as count.
STARLING_HD inline std::uint64_t swap_if(const thread& one, sym<std::uint64_t> word, std::uint64_t seen,
                                         std::uint64_t value, where at) {
  if constexpr (target::on_gpu) {
    gpu::device_atomic(*word.on(one.pe())).compare_exchange_strong(seen, value, cuda::memory_order_acq_rel);
    return seen;
  } else {
    return one.atomic_compare_swap(word, seen, value, one.pe(), cuda::memory_order_acq_rel, at);
  }
}

// Counts one of `n` and says whether it was the last; the word is then 0 again. Whoever counts next must come after
// that.
STARLING_HD inline bool is_last(const thread& one, sym<std::uint64_t> word, int n, where at) {
  if (count(one, word, 1, at) + 1 != static_cast<std::uint64_t>(n)) return false;
  if constexpr (target::on_gpu)
    gpu::device_atomic(*word.on(one.pe())).store(0, cuda::memory_order_relaxed);
  else
    one.atomic_set(word, 0, one.pe(), cuda::memory_order_relaxed, at);
  return true;
}

// Ends the program. By one thread or by all of a block: the host reports the first.
STARLING_HD inline void refuse(const thread& one, const region_fault& f, where at) {
  if constexpr (target::on_gpu) {
    gpu::refuse_fault(one.state(), one.index(), operation::region, f, at);
    one.give_up();
  } else {
    refuse_region(one.pe(), one.index(), f, at);
  }
}

}  // namespace region_words
}  // namespace starling
