// How blocks reach their own warps: agent_own_warp.hpp says what the rings hold.
#include "starling/region/region.hpp"

namespace starling {

bool region_memory::warps_in_blocks() const { return machine_.kind() == machine_kind::cuda; }

// Kernels that were made before find the rings by a word of memory, where each process has its own addresses.
void region_memory::make_rings(int blocks) {
  if (ring_tickets_.allocated() && ring_tickets_.size() >= blocks) return;
  const index_t slots = index_t{blocks} * region_rings::slots;
  ring_items_ = machine_.allocate<region_item>(slots);
  ring_signals_ = machine_.allocate<signal>(slots + blocks);
  ring_tickets_ = machine_.allocate<std::uint64_t>(blocks);
  const region_rings rings{ring_items_.data(), ring_signals_.data(), ring_signals_.data() + slots,
                           ring_tickets_.data()};
  for (int pe = 0; pe < machine_.size(); ++pe)
    if (machine_.is_local(pe)) machine_.copy(rings_.on(pe), &rings, sizeof rings);
  clear_rings();
}

void region_memory::clear_rings() {
  for (int pe = 0; pe < machine_.size() && ring_tickets_.allocated(); ++pe) {
    if (!machine_.is_local(pe)) continue;
    machine_.fill(ring_signals_.on(pe), 0, static_cast<std::size_t>(ring_signals_.size()) * sizeof(signal));
    machine_.fill(ring_tickets_.on(pe), 0, static_cast<std::size_t>(ring_tickets_.size()) * sizeof(std::uint64_t));
  }
}

}  // namespace starling
