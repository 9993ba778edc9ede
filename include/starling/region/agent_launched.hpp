// Launched copies: who completes a chunk launches a kernel of one block, which sends it and ends (PROACT, III-C).
// Nothing waits meanwhile, and the program is over when all of them are.
//
// Order. A launched kernel sees what the thread that launched it has acquired: the chunk, by its counting. Nothing
// orders launches among themselves, and a chunk may be complete for the next epoch before this one is sent. Arrival
// must not go back, so a chunk has one copy at a time, to which an epoch that is complete meanwhile is left. A copy
// counts behind its arrivals, with a release: whoever launches the next one comes after them.
//
// Where no launch has room, the thread that completed the chunk sends it by itself: with several PEs on a GPU, all of
// whose launches are counted together and for a while after their end, waiting for room does not end.
#pragma once

#include "starling/region/chunk_sender.hpp"

namespace starling {

template <class T>
struct launched_copy {
  region_words::chunk_sender<T> sender;
  region_item item;

  STARLING_HD void operator()(block& b) const { run(b); }

  template <class Group>
  STARLING_HD void run(const Group& b) const {
    const region_state& s = sender.s;
    const auto c = static_cast<int>(item.chunk);
    region_item next = item;
    for (bool more = true; more; ++next.epoch) {
      if (next.epoch != item.epoch) {
        bool kept = false;
        if (b.member() == 0) kept = s.stored.on(b.pe())[s.word_of(c, next.epoch)] != next.epoch;
        next.how = b.first(kept) ? region_item::kept : region_item::whole;
      }
      sender.send(b, next);
      more = false;
      if (b.member() == 0) more = region_words::count(thread(b), s.handed + c, ~std::uint64_t{0}, where::current()) > 1;
      more = b.first(more);
    }
  }
};

namespace region_words::launched {

// See region_words::hand_on.
template <class T>
STARLING_HD void hand_on(const thread& one, const region_state& s, sym<T> values, index_t pitch, int c,
                         std::uint64_t epoch, std::uint64_t how, where at) {
  if (count(one, s.handed + c, 1, at) != 0) return;
  const launched_copy<T> copy{{s, values, pitch}, {epoch, c, how}};
  // Kernels of a GPU that cannot launch are refused before they run.
  if constexpr (!target::on_gpu || target::launches_from_kernels)
    if (!one.launch(copy, at)) copy.run(one);
}

}  // namespace region_words::launched

}  // namespace starling
