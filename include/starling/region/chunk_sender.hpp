// How a chunk goes from its PE's own copy to its subscribers, by all of a block or by one thread: for agents that send
// whole chunks.
#pragma once

#include <type_traits>

#include "starling/region/host_copy.hpp"
#include "starling/region/pieces.hpp"
#include "starling/region/timing.hpp"
#include "starling/region/verify.hpp"

namespace starling::region_words {

template <class T>
struct chunk_sender {
  region_state s;
  sym<T> values;      // [buffers][pitch]
  index_t pitch = 0;  // elements between buffers

  // All of it: the chunk, or the word that it is unchanged, and then its arrival.
  template <class Group>
  STARLING_HD void send(const Group& b, const region_item& item) const {
    const auto of_part = static_cast<int>(item.chunk);
    const index_range e = s.elements_of(b.pe(), of_part);
    const sym<T> start = values + (s.buffer_of(item.epoch) * pitch + e.begin);
    hash(b, start, of_part, item.epoch);
    if (item.how == region_item::pieces) send_rest(b, of_part, item.epoch);
    bool puts = false;
    for_each_subscriber(b, of_part, [&](int chunk, int to) { puts = put(b, item, start, e, chunk, to) || puts; });
    // One fence for all, which takes as long as the slowest: with one each they would wait for one after the other. It
    // also orders the next epoch of the chunk, which a PE may get before it has looked at this one.
    if (puts) b.fence();
    for_each_subscriber(b, of_part, [&](int chunk, int to) { b.signal_set(s.arrived + chunk, item.epoch, to); });
    if (item.how != region_item::kept) put_to_host(b, start, e, item.epoch);
    arrive_at_host(b, item);
    if (s.flushes) b.quiet();  // whom a flush tells of the chunk may be on any PE
    if (b.member() == 0) region_words::note_arrival(thread(b), s, of_part, where::current());
    if (s.awaits_sent()) b.signal_set(s.sent + of_part, item.epoch, b.pe());
  }

  // A chunk, which lies at `start`, to one of those that get it, or the word that it is unchanged. Returns whether
  // there was anything to put.
  template <class Group>
  STARLING_HD bool put(const Group& b, const region_item& item, sym<T> start, index_range e, int chunk, int to) const {
    if (item.how == region_item::kept) {
      const sym<std::uint64_t> word = s.kept_in(item.epoch, chunk);
      b.put(word, word.on(b.pe()), 1, to);
      return true;
    }
    if (item.how != region_item::whole || s.sending != region_sending::all) return false;
    b.put(start, start.on(b.pe()), e.size(), to);
    return true;
  }

  // If the host subscribes: a chunk that lies at `start`.
  template <class Group>
  STARLING_HD void put_to_host(const Group& b, sym<T> start, index_range e, std::uint64_t epoch) const {
    if (s.to_host() && s.sending == region_sending::all)
      region_words::put_to_host(b, region_words::on_host<T>(s, pitch, epoch) + e.begin, start.on(b.pe()), e.size(),
                                where::current());
  }
  template <class Group>
  STARLING_HD void arrive_at_host(const Group& b, const region_item& item) const {
    const int chunk = s.chunk_at.on(b.pe())[b.pe()] + static_cast<int>(item.chunk);
    if (s.to_host()) region_words::arrive_at_host(b, s, chunk, item.epoch, where::current());
  }

  // With region_options::verify: of a chunk that lies at `start` in the PE's own copy.
  template <class Group>
  STARLING_HD void hash(const Group& b, sym<T> start, int of_part, std::uint64_t epoch) const {
    if (!static_cast<bool>(s.hashes)) return;
    const index_range e = s.elements_of(b.pe(), of_part);
    std::uint64_t sum = region_words::hash_share(b, start.on(b.pe()) - e.begin, e);
    if constexpr (!std::is_same_v<Group, thread>) sum = b.reduce(sum, plus{});
    const int chunk = s.chunk_at.on(b.pe())[b.pe()] + of_part;
    region_words::send_hash(b, s, chunk, epoch, sum, where::current());
  }

  // f(chunk, PE) for the others that get chunk `of_part` of this part: in rotated order, so that they do not all get
  // from the same PE at the same time.
  template <class Group, class F>
  STARLING_HD void for_each_subscriber(const Group& b, int of_part, const F& f) const {
    const int pe = b.pe();
    const int chunk = s.chunk_at.on(pe)[pe] + of_part;
    for (int k = 1; k < b.n_pes(); ++k) {
      const int to = (pe + k) % b.n_pes();
      if (s.gets(pe, chunk, to)) f(chunk, to);
    }
  }

 private:
  // What no flush has sent.
  template <class Group>
  STARLING_HD void send_rest(const Group& b, int c, std::uint64_t epoch) const {
    const int pe = b.pe();
    for (std::int32_t k = s.chunk_tile_at.on(pe)[c]; k < s.chunk_tile_at.on(pe)[c + 1]; ++k) {
      const int t = s.chunk_tiles.on(pe)[k];
      std::int32_t i = s.tile_chunk_at.on(pe)[t];
      while (s.tile_chunks.on(pe)[i] != c) ++i;
      if (s.flushed.on(pe)[s.word_of(i, epoch)] != epoch)
        region_words::put_piece(b, s, values + s.buffer_of(epoch) * pitch, t, c, where::current());
    }
    b.fence();
  }
};

}  // namespace starling::region_words
