// The polling agent: blocks that wait for chunks to be ready and copy each from the PE's own copy to those of its
// subscribers, one after the other (PROACT, III-C). Who completes a chunk puts it into the ring of the block that sends
// it. With paced links it keeps back the arrival of what it has stored until the simulated link would have carried it;
// what it has under way it holds in a ring, in order.
#pragma once

#include "starling/region/chunk_sender.hpp"

namespace starling {

namespace region_words::polling {

// The agent block that sends chunk `c` of the part gets it.
STARLING_HD inline void push(const thread& one, const region_state& s, int agent, const region_item& item, where at) {
  const std::uint64_t ticket = count(one, s.tickets + agent, 1, at);
  const index_t slot = static_cast<index_t>(agent) * s.queue_slots +
                       static_cast<index_t>(ticket % static_cast<std::uint64_t>(s.queue_slots));
  s.items.on(one.pe())[slot] = item;
  one.signal_set(s.filled + slot, ticket + 1, one.pe(), at);
}

// See region_words::hand_on and no_more.
STARLING_HD inline void hand_on(const thread& one, const region_state& s, int c, std::uint64_t epoch, std::uint64_t how,
                                where at) {
  push(one, s, c % s.agent_blocks, {epoch, c, how}, at);
}

STARLING_HD inline void no_more(const block& b, const region_state& s, where at) {
  if (b.member() != 0) return;
  for (int j = 0; j < s.agent_blocks; ++j) push(b.thread(), s, j, {0, region_item::end, region_item::whole}, at);
}

}  // namespace region_words::polling

template <class T>
struct polling_agent : region_words::chunk_sender<T> {
  using base = region_words::chunk_sender<T>;
  using base::pitch;
  using base::s;
  using base::values;

  // Without a deadline while there is nothing to do; ends when the kernels that write have, or with the program.
  STARLING_HD void operator()(block& b) const { serve(b, b.index()); }

  // What the block with number `agent` among the agent's does.
  STARLING_HD void serve(const block& b, int agent) const {
    const int pe = b.pe();
    const sym<signal> served = s.served + agent;
    std::uint64_t ticket = served.on(pe)->value;
    const bool paces = static_cast<bool>(s.due);
    on_links under_way{agent};
    for (bool more = true; more || under_way.any();) {
      const sym<signal> filled = s.filled + slot(agent, ticket);
      if (paces && under_way.any()) {
        arrive_in_time(b, under_way);
        const bool has_next = b.test(filled, compare::ge, ticket + 1);  // also learns that the program has ended
        if (!has_next || !more || under_way.full(s.queue_slots)) continue;
      }
      b.wait_idle(filled, ticket + 1, pe);
      const region_item item = s.items.on(pe)[slot(agent, ticket)];
      more = item.chunk != region_item::end;
      if (more && paces)
        begin_paced(b, item, under_way);
      else if (more)
        base::send(b, item);
      b.signal_set(served, ++ticket, pe);
    }
  }

 private:
  // Chunks of the ring from `signalled` to `begun` have been stored, and their arrival is still to come.
  struct on_links {
    int agent;  // the block's number
    std::uint64_t begun = 0;
    std::uint64_t signalled = 0;
    std::uint64_t free_ns = 0;  // when the links have carried all of them

    STARLING_HD bool any() const { return signalled < begun; }
    STARLING_HD bool full(int slots) const { return begun - signalled == static_cast<std::uint64_t>(slots); }
  };

  // The place of number `n` in a ring of agent block `agent`.
  STARLING_HD index_t slot(int agent, std::uint64_t n) const {
    return static_cast<index_t>(agent) * s.queue_slots +
           static_cast<index_t>(n % static_cast<std::uint64_t>(s.queue_slots));
  }

  // Stores a chunk, and notes when a link of the rate asked for would have carried it.
  STARLING_HD void begin_paced(const block& b, const region_item& item, on_links& under_way) const {
    const auto of_part = static_cast<int>(item.chunk);
    const index_range e = s.elements_of(b.pe(), of_part);
    const sym<T> start = values + (s.buffer_of(item.epoch) * pitch + e.begin);
    base::hash(b, start, of_part, item.epoch);
    const bool kept = item.how == region_item::kept;
    base::for_each_subscriber(b, of_part, [&](int chunk, int to) { base::put(b, item, start, e, chunk, to); });
    if (!kept) base::put_to_host(b, start, e, item.epoch);
    const std::uint64_t now = b.first(target::now_ns());
    const double ns = kept ? 0 : s.ns_per_byte * static_cast<double>(e.size()) * sizeof(T);
    under_way.free_ns = (now > under_way.free_ns ? now : under_way.free_ns) + static_cast<std::uint64_t>(ns);
    if (b.member() == 0)
      s.due.on(b.pe())[slot(under_way.agent, under_way.begun)] = {under_way.free_ns + s.latency_ns, item};
    ++under_way.begun;
  }

  // Tells of the chunks whose time has come.
  STARLING_HD void arrive_in_time(const block& b, on_links& under_way) const {
    const std::uint64_t now = b.first(target::now_ns());
    for (bool fenced = false; under_way.any(); ++under_way.signalled) {
      const region_due next = s.due.on(b.pe())[slot(under_way.agent, under_way.signalled)];
      if (next.ns > now) return;
      if (!fenced) b.fence();
      fenced = true;
      const auto of_part = static_cast<int>(next.item.chunk);
      base::for_each_subscriber(b, of_part,
                                [&](int chunk, int to) { b.signal_set(s.arrived + chunk, next.item.epoch, to); });
      base::arrive_at_host(b, next.item);
      if (b.member() == 0) region_words::note_arrival(b.thread(), s, of_part, where::current());
      if (s.awaits_sent()) b.signal_set(s.sent + of_part, next.item.epoch, b.pe());
    }
  }
};

}  // namespace starling
