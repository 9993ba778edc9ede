// The polling agent: blocks that wait for chunks to be ready, read each once from the PE's own copy and store it to the
// copies of its subscribers (PROACT, III-C).
#pragma once

#include "starling/region/state.hpp"

namespace starling {

template <class T>
struct polling_agent {
  region_state s;
  sym<T> values;      // [buffers][pitch]
  index_t pitch = 0;  // elements between buffers

  // Without a deadline while there is nothing to do; ends when the kernels that write have, or with the program.
  STARLING_HD void operator()(block& b) const {
    const int pe = b.pe();
    const sym<signal> served = s.served + b.index();
    std::uint64_t ticket = served.on(pe)->value;
    for (bool more = true; more;) {
      const index_t slot = static_cast<index_t>(b.index()) * s.queue_slots +
                           static_cast<index_t>(ticket % static_cast<std::uint64_t>(s.queue_slots));
      b.wait_idle(s.filled + slot, ticket + 1, pe);
      const region_item item = s.items.on(pe)[slot];
      more = item.chunk != region_item::end;
      if (more) send(b, item);
      b.signal_set(served, ++ticket, pe);
    }
  }

 private:
  // Peers in rotated order, so that they do not all get from the same PE at the same time.
  STARLING_HD void send(const block& b, const region_item& item) const {
    const int pe = b.pe();
    const auto of_part = static_cast<int>(item.chunk);
    const int chunk = s.chunk_at.on(pe)[pe] + of_part;
    const index_range e = s.elements_of(pe, of_part);
    const sym<T> start = values + (s.buffer_of(item.epoch) * pitch + e.begin);
    // With credits a PE may get the next epoch of a chunk that it has not looked at.
    if (s.credits) b.fence();
    for (int k = 1; k < b.n_pes(); ++k) {
      const int to = (pe + k) % b.n_pes();
      if (s.gets(pe, chunk, to)) b.put_signal(start, start.on(pe), e.size(), s.arrived + chunk, item.epoch, to);
    }
    if (s.credits) b.signal_set(s.sent + of_part, item.epoch, pe);
  }
};

}  // namespace starling
