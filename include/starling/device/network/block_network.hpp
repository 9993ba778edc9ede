// The queue pairs of one block of a GPU, in its shared memory: one for each of its contexts and each PE behind the
// card, taken from its PE's when the block first uses it. Threads of the block use them at the same time.
#pragma once

#include "starling/device/gpu_wait.hpp"
#include "starling/device/network/card_view.hpp"

namespace starling::network {

inline constexpr std::uint32_t most_queues_of_block = 16;
// Up to this depth of rings, what entries keep is in shared memory too.
inline constexpr std::uint32_t depth_kept_near = 64;

template <class T>
STARLING_HD cuda::atomic_ref<T, cuda::thread_scope_block> block_atomic(T& word) {
  return cuda::atomic_ref<T, cuda::thread_scope_block>(word);
}

// PEs of which a block keeps whether they are behind the card.
inline constexpr int pes_kept_near = 64;

struct block_network {
  std::uint64_t behind = 0;    // bit i: PE i is behind the card
  std::uint32_t open = 0;      // of the places below
  std::uint32_t opening = 0;   // a thread is taking one
  std::uint32_t contexts = 0;  // bit i: context 1 + i
  std::int32_t context[most_queues_of_block];
  std::uint32_t staging[most_queues_of_block];  // 1: a thread has data in that queue's staging memory
  queue_pair pair[most_queues_of_block];
  queue_state state[most_queues_of_block];
  std::uint8_t kept[most_queues_of_block][depth_kept_near];
};
static_assert(sizeof(block_network) <= target::network_memory_bytes);

STARLING_HD inline block_network& network_of_block() {
  return *reinterpret_cast<block_network*>(target::network_memory());
}

// A lock among the threads of a block, also of one warp.
STARLING_HD inline void lock_word(std::uint32_t& word) {
  while (block_atomic(word).exchange(1U, cuda::memory_order_acquire) != 0) {
  }
}
STARLING_HD inline void unlock_word(std::uint32_t& word) { block_atomic(word).store(0U, cuda::memory_order_release); }

// The place of the queue to a PE; negative: there is none yet.
STARLING_HD inline int place_of(const block_network& n, int context, int peer) {
  const auto open = block_atomic(const_cast<std::uint32_t&>(n.open)).load(cuda::memory_order_acquire);
  for (std::uint32_t i = 0; i < open; ++i)
    if (n.context[i] == context && n.pair[i].peer == peer) return static_cast<int>(i);
  return -1;
}

// Takes it from those of the PE. Negative: the block has as many as it can have.
__attribute__((noinline)) STARLING_HD inline int open_queue(const card_view& v, block_network& n, int context,
                                                            int peer) {
  lock_word(n.opening);
  int place = place_of(n, context, peer);
  if (place < 0 && n.open < most_queues_of_block) {
    const std::uint64_t queue = gpu::system_atomic(v.counts->taken).fetch_add(1, cuda::memory_order_relaxed);
    if (queue < v.n_queues) {
      place = static_cast<int>(n.open);
      n.context[place] = context;
      n.staging[place] = 0;
      queue_pair& q = n.pair[place];
      q = pair_of(v, static_cast<std::uint32_t>(queue));
      q.peer = peer;
      q.own = v.memory.regions[v.pe];
      q.at_peer = v.memory.regions[peer];
      q.state = &n.state[place];
      if (q.depth <= depth_kept_near) q.kept = n.kept[place];
      prepare(q, 0);
      block_atomic(n.open).store(static_cast<std::uint32_t>(place) + 1, cuda::memory_order_release);
    }
  }
  unlock_word(n.opening);
  return place;
}

// Contexts beside the block's own, which is 0. As many as there are places for; the next ones share the block's own:
// what waits for a context then waits for more.
STARLING_HD inline int open_context(const card_view& v) {
  std::uint32_t& open = network_of_block().contexts;
  const auto most = most_queues_of_block / static_cast<std::uint32_t>(v.far) - 1;
  std::uint32_t now = block_atomic(open).load(cuda::memory_order_relaxed);
  for (std::uint32_t i = 0; i < most;) {
    const std::uint32_t bit = std::uint32_t{1} << i;
    if ((now & bit) != 0)
      ++i;
    else if (block_atomic(open).compare_exchange_weak(now, now | bit, cuda::memory_order_acq_rel))
      return static_cast<int>(i) + 1;
  }
  return 0;
}
STARLING_HD inline void close_context(int context) {
  if (context == 0) return;
  block_atomic(network_of_block().contexts).fetch_and(~(std::uint32_t{1} << (context - 1)), cuda::memory_order_acq_rel);
}

}  // namespace starling::network
