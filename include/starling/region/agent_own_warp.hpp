// Own warps: one more warp of each block that writes (kernel_with_warp), to which the block hands its tiles as it
// commits them, and which sends each tile's part of its chunks while the block writes the next tile. Who sends the last
// tile of a chunk tells the subscribers. On virtual devices the warp is a block of a program beside the kernel.
//
// Order. A warp counts a tile behind its stores, with acquire and release; who counts last has acquired what all others
// have stored, and raises arrival with a release at system scope. A tile that was left unchanged is
// counted alone: its elements are at the subscribers.
#pragma once

#include "starling/region/host_copy.hpp"
#include "starling/region/pieces.hpp"
#include "starling/region/timing.hpp"
#include "starling/region/verify.hpp"

namespace starling {

namespace region_words::own_warp {

// The block's warp gets a tile, or the end. Who finds the ring full waits for the warp, which waits for nobody else.
STARLING_HD inline void hand_on(const thread& one, const region_state& s, const region_item& item, where at) {
  const int pe = one.pe();
  const region_rings& rings = *s.rings.on(pe);
  constexpr auto slots = static_cast<std::uint64_t>(region_rings::slots);
  std::uint64_t& ticket = rings.tickets.on(pe)[one.index()];
  if (ticket >= slots) one.wait(rings.served + one.index(), ticket + 1 - slots, pe, at);
  const index_t slot = index_t{one.index()} * region_rings::slots + static_cast<index_t>(ticket % slots);
  rings.items.on(pe)[slot] = item;
  one.signal_set(rings.filled + slot, ++ticket, pe, at);
}

}  // namespace region_words::own_warp

template <class T>
struct own_warp_agent {
  region_state s;
  sym<T> values;      // [buffers][pitch]
  index_t pitch = 0;  // elements between buffers

  // On virtual devices: block b for the block with its number.
  STARLING_HD void operator()(block& b) const { serve(b); }
  // On GPUs: the warp itself.
  STARLING_HD void beside(const program_state& launch) const {
    serve(warp(launch, nullptr, target::block_index(), {}));
  }

  // Without a deadline while there is nothing to do; ends when its block has, or with the program.
  template <class Group>
  STARLING_HD void serve(const Group& g) const {
    const int pe = g.pe();
    const region_rings& rings = *s.rings.on(pe);
    const sym<signal> served = rings.served + g.index();
    for (std::uint64_t ticket = served.on(pe)->value;;) {
      const index_t slot = index_t{g.index()} * region_rings::slots +
                           static_cast<index_t>(ticket % static_cast<std::uint64_t>(region_rings::slots));
      if (!await(g, rings.filled + slot, ticket + 1)) return;
      const region_item item = rings.items.on(pe)[slot];
      if (item.chunk != region_item::end) send(g, item);
      g.signal_set(served, ++ticket, pe);
      if (item.chunk == region_item::end) return;
    }
  }

 private:
  // False: the program is being ended. No report: the block files what it waits for, and has but one.
  template <class Group>
  STARLING_HD bool await(const Group& g, sym<signal> filled, std::uint64_t at_least) const {
    if constexpr (target::on_gpu) {
      bool came = false;
      if (g.member() == 0) {
        const auto word = gpu::device_atomic(filled.on(g.pe())->value);
        gpu::patience rest(g.state(), true);
        do {
          came = word.load(cuda::memory_order_acquire) >= at_least;
        } while (!came && !rest.spent());
      }
      came = g.votes(came) != 0;
      g.sync();
      return came;
    } else {
      g.wait_idle(filled, at_least, g.pe());
      return true;
    }
  }

  template <class Group>
  STARLING_HD void send(const Group& g, const region_item& item) const {
    const int pe = g.pe();
    const auto t = static_cast<int>(item.chunk);
    const std::int32_t first = s.tile_chunk_at.on(pe)[t];
    const std::int32_t end = s.tile_chunk_at.on(pe)[t + 1];
    if (item.how == region_item::whole && s.sending == region_sending::all) {
      for (std::int32_t i = first; i < end; ++i) put_tile(g, t, s.tile_chunks.on(pe)[i], item.epoch);
      g.sync();  // counting releases what all of the group have stored
    }
    for (std::int32_t i = first; i < end; ++i) count_tile(g, s.tile_chunks.on(pe)[i], item.epoch);
  }

  // What tile `t` has of chunk `c` of the part.
  template <class Group>
  STARLING_HD void put_tile(const Group& g, int t, int c, std::uint64_t epoch) const {
    const sym<T> start = values + s.buffer_of(epoch) * pitch;
    region_words::put_piece(g, s, start, t, c, where::current());
    if (!s.to_host()) return;
    region_words::each_piece(s, g.pe(), t, c, [&](index_t begin, index_t end) {
      region_words::put_to_host(g, region_words::on_host<T>(s, pitch, epoch) + begin, start.on(g.pe()) + begin,
                                end - begin, where::current());
    });
  }

  // A tile of the chunk has been sent; the last one is followed by the chunk's arrival.
  template <class Group>
  STARLING_HD void count_tile(const Group& g, int c, std::uint64_t epoch) const {
    const int pe = g.pe();
    const int chunk = s.chunk_at.on(pe)[pe] + c;
    if (!s.to_host() && !s.has_others(pe, g.n_pes(), chunk)) return;
    const std::uint64_t wanted = s.writers.on(pe)[c] * s.use_of(epoch);
    const index_t word = s.word_of(c, epoch);
    bool last = false;
    bool kept = false;
    if (g.member() == 0) {
      last = region_words::count(thread(g), s.shipped + word, 1, where::current()) + 1 == wanted;
      kept = last && s.stored.on(pe)[word] != epoch;
    }
    if (g.votes(last) == 0) return;
    g.sync();
    signal_arrival(g, c, epoch, g.votes(kept) != 0);
  }

  // `kept`: all its tiles were left unchanged.
  template <class Group>
  STARLING_HD void signal_arrival(const Group& g, int c, std::uint64_t epoch, bool kept) const {
    const int pe = g.pe();
    const int chunk = s.chunk_at.on(pe)[pe] + c;
    if (static_cast<bool>(s.hashes)) {
      const index_range e = s.elements_of(pe, c);
      const T* there = (values + s.buffer_of(epoch) * pitch).on(pe);
      const std::uint64_t sum = g.reduce(region_words::hash_share(g, there, e), plus{});
      region_words::send_hash(g, s, chunk, epoch, sum, where::current());
    }
    const sym<std::uint64_t> word = s.kept_in(epoch, chunk);
    for (int k = 1; k < g.n_pes(); ++k) {
      const int to = (pe + k) % g.n_pes();
      if (!s.gets(pe, chunk, to)) continue;
      if (kept)
        g.put_signal(word, word.on(pe), 1, s.arrived + chunk, epoch, to);
      else
        g.signal_set(s.arrived + chunk, epoch, to);
    }
    if (s.to_host()) region_words::arrive_at_host(g, s, chunk, epoch, where::current());
    if (g.member() == 0) region_words::note_arrival(thread(g), s, c, where::current());
    if (s.awaits_sent()) g.signal_set(s.sent + c, epoch, pe);
  }
};

}  // namespace starling
