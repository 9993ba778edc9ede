// What one thread of a GPU's block asks the card for. Each call returns false when the program is to end, report filed:
// the thread then leaves. Out of line: a kernel has many calls, and what they do takes a microsecond anyway.
#pragma once

#include <type_traits>

#include "starling/device/network/carrier.hpp"
#include "starling/device/network/gpu_bus.hpp"

namespace starling::network {

// Whether a card is between a block and a PE that exists. Each call asks, and a wait has emptied the L1 cache.
STARLING_HD inline bool apart(const program_state& s, int pe) {
  if (pe < pes_kept_near) return (network_of_block().behind >> pe & 1U) != 0;
  const std::int32_t* host_of = s.network->host_of;
  return host_of[pe] != host_of[s.pe];
}

// Files that a queue has failed: which call it was of.
__attribute__((noinline)) STARLING_HD inline void report_failure(const program_state& s, int block,
                                                                 const queue_pair& q) {
  const queue_state& state = *q.state;
  const origin& o = origins_of(q)[state.failed & (q.depth - 1)];
  block_report r;
  r.state = block_state::network_failed;
  r.op = o.op;
  r.peer = q.peer;
  r.wanted = state.error;
  r.seen = state.failed;
  set_place(r, {o.file, o.line});
  gpu::file_report(s, block, r);
}

// Runs what posts entries to the queue of a context and a PE.
template <class Bus, class F>
STARLING_HD bool with_queue(const program_state& s, int block, int context, int peer, operation op, where at,
                            const F& f) {
  block_network& n = network_of_block();
  int place = place_of(n, context, peer);
  if (place < 0) place = open_queue(*s.network, n, context, peer);
  if (place < 0) {
    gpu::refuse(s, block, block_state::network_failed, op, peer, static_cast<std::uint64_t>(status::no_queue), at);
    return false;
  }
  const queue_pair& q = n.pair[place];
  Bus bus(s, block, place, op, at);
  const carrier<Bus> c(q, bus);
  if (f(c)) return true;
  if (c.failed()) report_failure(s, block, q);
  return false;
}

// What an entry's blocks ask for, which record it or do not: there is one copy of each call for both kinds.
template <bool Traced>
struct card_requests {
  using Bus = std::conditional_t<Traced, traced_gpu_bus, gpu_bus>;

  __attribute__((noinline)) STARLING_HD static bool put(const program_state& s, int block, const transfer& t) {
    return with_queue<Bus>(s, block, t.context, t.pe, operation::put, t.at, [&](const auto& c) { return c.put(t); });
  }
  __attribute__((noinline)) STARLING_HD static bool put_signal(const program_state& s, int block, const transfer& t,
                                                               const signal_update& u) {
    return with_queue<Bus>(s, block, t.context, t.pe, operation::put, t.at,
                           [&](const auto& c) { return c.put_signal(t, u); });
  }
  __attribute__((noinline)) STARLING_HD static bool get(const program_state& s, int block, const transfer& t) {
    return with_queue<Bus>(s, block, t.context, t.pe, operation::get, t.at, [&](const auto& c) { return c.get(t); });
  }
  __attribute__((noinline)) STARLING_HD static bool update(const program_state& s, int block, const signal_update& u) {
    return with_queue<Bus>(s, block, u.context, u.pe, operation::put, u.at, [&](const auto& c) { return c.signal(u); });
  }
  // Two words of 8 bytes side by side, ordered with nothing: a packet.
  __attribute__((noinline)) STARLING_HD static bool put_words(const program_state& s, int block, int context, int peer,
                                                              std::uint64_t* to, const std::uint64_t* words, int n,
                                                              where at) {
    return with_queue<Bus>(s, block, context, peer, operation::put, at,
                           [&](const auto& c) { return c.words(to, words, n); });
  }
  // By the card's own operation; `old`: what the word held.
  __attribute__((noinline)) STARLING_HD static bool change(const program_state& s, int block, int context, int peer,
                                                           void* word, int bytes, opcode what, std::uint64_t operand,
                                                           std::uint64_t expected, std::uint64_t& old, where at) {
    return with_queue<Bus>(s, block, context, peer, operation::atomic, at, [&](const auto& c) {
      return c.change(word, static_cast<std::uint32_t>(bytes), what, operand, expected, old);
    });
  }
  // Of all queues of a context, or of all contexts (less than 0).
  __attribute__((noinline)) STARLING_HD static bool quiet(const program_state& s, int block, int context, where at) {
    block_network& n = network_of_block();
    const auto open = block_atomic(n.open).load(cuda::memory_order_acquire);
    for (std::uint32_t i = 0; i < open; ++i) {
      if (!is_about(context, n.context[i])) continue;
      Bus bus(s, block, static_cast<int>(i), operation::quiet, at);
      const carrier<Bus> c(n.pair[i], bus);
      if (c.quiet()) continue;
      if (c.failed()) report_failure(s, block, n.pair[i]);
      return false;
    }
    return true;
  }
};

// f with the requests of a group's entry.
template <class Group, class F>
STARLING_HD bool request(const Group& g, const F& f) {
  return g.traced() ? f(card_requests<true>{}) : f(card_requests<false>{});
}

// Staging memory of the queue, for data that the group's threads write there; the caller's alone until it is given
// back. Null: the program is to end.
__attribute__((noinline)) STARLING_HD inline std::byte* take_staging(const program_state& s, int block, int context,
                                                                     int peer, operation op, where at) {
  std::byte* memory = nullptr;
  (void)with_queue<gpu_bus>(s, block, context, peer, op, at, [&](const auto& c) {
    memory = c.take_staging();
    return true;
  });
  return memory;
}
STARLING_HD inline void give_staging(int context, int peer) {
  block_network& n = network_of_block();
  unlock_word(n.staging[place_of(n, context, peer)]);
}

// Of all queues of a context, or of all contexts (less than 0).
__attribute__((noinline)) STARLING_HD inline void fence(const program_state& s, int block, int context) {
  block_network& n = network_of_block();
  const auto open = block_atomic(n.open).load(cuda::memory_order_acquire);
  for (std::uint32_t i = 0; i < open; ++i)
    if (is_about(context, n.context[i])) {
      gpu_bus bus(s, block, static_cast<int>(i), operation::none, where{"", 0});
      carrier<gpu_bus>(n.pair[i], bus).fence();
    }
}

// ---- the block's beginning and end ----

STARLING_HD inline void begin(const program_state& s, int block) {
  if (target::thread_index() == 0) {
    block_network& n = network_of_block();
    n.open = 0;
    n.opening = 0;
    n.contexts = 0;
    n.behind = 0;
    const std::int32_t* host_of = s.network->host_of;
    for (int pe = 0; pe < s.n_pes && pe < pes_kept_near; ++pe)
      n.behind |= static_cast<std::uint64_t>(host_of[pe] != host_of[s.pe]) << pe;
    s.network->tables[block] = target::network_memory();
  }
  target::sync_block();
}

// What the block leaves on its way arrives.
template <class Group>
STARLING_HD void end(const Group& g) {
  target::sync_block();
  if (target::thread_index() != 0) return;
  const program_state& s = g.state();
  (void)request(g, [&](auto card) { return card.quiet(s, g.index(), -1, where{"", 0}); });
  gpu::system_atomic(s.network->counts->ended).fetch_add(1, cuda::memory_order_release);
}

// Looks at all answers; whether one was an error, which then is reported. By way of the PE's memory: an entry without
// cards must not have the block's table.
__attribute__((noinline)) STARLING_HD inline bool report_if_failed(const program_state& s, int block) {
  auto* n = reinterpret_cast<block_network*>(s.network->tables[block]);
  const auto open = block_atomic(n->open).load(cuda::memory_order_acquire);
  for (std::uint32_t i = 0; i < open; ++i) {
    direct_bus plain;
    const sender<direct_bus> answers(n->pair[i], plain);
    while (answers.poll()) {
    }
    if (!answers.failed()) continue;
    report_failure(s, block, n->pair[i]);
    return true;
  }
  return false;
}

}  // namespace starling::network

namespace starling::gpu {

STARLING_HD inline bool network_has_failed(const program_state& s, int block) {
  return network::report_if_failed(s, block);
}

}  // namespace starling::gpu
