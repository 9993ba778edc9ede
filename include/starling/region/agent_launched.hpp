// Launched copies: who completes a chunk launches a kernel of one block, which sends it and ends (PROACT, III-C).
// Nothing waits meanwhile, and the program is over when all of them are.
//
// Order. A launched kernel sees what the thread that launched it has acquired: the chunk, by its counting. Nothing
// orders launches among themselves, and a chunk may be complete for the next epoch before this one is sent. Arrival
// must not go back, so a chunk has one copy at a time, to which an epoch that is complete meanwhile is left. A copy
// counts behind its arrivals, with a release: whoever launches the next one comes after them.
#pragma once

#include "starling/region/chunk_sender.hpp"

namespace starling {

template <class T>
struct launched_copy {
  region_words::chunk_sender<T> sender;
  region_item item;

  STARLING_HD void operator()(block& b) const {
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
      if (b.member() == 0)
        more = region_words::count(b.thread(), s.handed + c, ~std::uint64_t{0}, where::current()) > 1;
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
  if (!one.launch(launched_copy<T>{{s, values, pitch}, {epoch, c, how}}, at))
    refuse(one, {region_defect::not_launched, s.chunk_at.on(one.pe())[one.pe()] + c, epoch, 0}, at);
}

}  // namespace region_words::launched

}  // namespace starling
