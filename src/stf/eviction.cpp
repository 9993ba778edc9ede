// What of coherence makes room: instances give way to others, their values stay somewhere.
#include <limits>

#include "coherence.hpp"
#include "data_registry.hpp"

namespace starling::stf {

// Moves away the instance that was used the longest ago. A place that is the host's only gives up copies. Busy: other
// threads hold all that could be moved.
coherence::eviction coherence::evict_one(const data_place& place) {
  if (held_ != nullptr) return eviction::nothing;
  std::shared_ptr<data_state> victim;
  const data_instance* leaving = nullptr;
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  bool busy = false;
  for (auto& d : all_.alive(&busy)) {
    if (!d->try_lock()) {
      busy = busy || !d->mine();
      continue;
    }
    for (const auto& here : d->body.instances) {
      const bool only_copy = here->valid && d->body.valid_instances() == 1;
      if (here->held() || here->block.start == nullptr || !(here->place == place) || here->last_use >= oldest) continue;
      if ((place.is_host() && only_copy) || d->body.held(*here)) continue;
      oldest = here->last_use;
      victim = d;
      leaving = here.get();
    }
    d->unlock();
  }
  if (!victim) return busy ? eviction::busy : eviction::nothing;
  if (!victim->try_lock()) return eviction::busy;
  const std::lock_guard lock(*victim, std::adopt_lock);
  std::vector<std::unique_ptr<data_instance>>& all = victim->body.instances;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].get() != leaving || all[i]->last_use != oldest || victim->body.held(*leaving)) continue;
    evict(victim->body, i);
    break;
  }
  return eviction::done;  // or somebody has used it meanwhile: look again
}

void coherence::evict(data_body& d, std::size_t which) {
  data_instance& leaving = *d.instances[which];
  // What a task left that threw is no value.
  if (leaving.valid && d.valid_instances() == 1 && d.failed_by.empty()) {
    // The user's own memory on the host is as good as any.
    data_instance* refuge = nullptr;
    for (const auto& i : d.instances)
      if (i->place.is_host()) refuge = i.get();
    moment_list unused;
    if (refuge == nullptr) refuge = &create(d, data_place::host(), unused);
    copy(d, leaving, *refuge);
    evictions_.fetch_add(1, std::memory_order_relaxed);
  }
  free(leaving);
  d.instances.erase(d.instances.begin() + static_cast<std::ptrdiff_t>(which));
}

}  // namespace starling::stf
