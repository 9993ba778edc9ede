// What of coherence makes room: instances give way to others, their values stay somewhere.
#include <limits>
#include <utility>

#include "coherence.hpp"
#include "data_registry.hpp"

namespace starling::stf {

// Moves away the instance that was used the longest ago. A place that is the host's only gives up copies. Busy: other
// threads hold all that could be moved. While tasks are recorded for many launches, what they use stays.
coherence::eviction coherence::evict_one(const data_place& place) {
  const bool in_scope = held_ != nullptr;
  std::shared_ptr<data_state> victim;
  const data_instance* leaving = nullptr;
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  bool to_be_copied = true;
  bool busy = false;
  for (auto& d : all_.alive(&busy)) {
    if (!d->try_lock()) {
      busy = busy || !d->mine();
      continue;
    }
    const bool stays =
        d->body.secret || d->body.promised || (in_scope && (d->body.in_scope() != nullptr || d->body.id > newest_));
    for (const data_instance* here : d->body.instances) {
      const bool only_copy = here->valid && d->body.valid_instances() == 1;
      // Of those that no task will use any more, first what needs no copy.
      if (stays || here->held() || here->block.start == nullptr || !(here->place == place) ||
          std::pair(here->last_use, only_copy) >= std::pair(oldest, to_be_copied))
        continue;
      if ((place.is_host() && only_copy) || d->body.held(*here)) continue;
      oldest = here->last_use;
      to_be_copied = only_copy;
      victim = d;
      leaving = here;
    }
    d->unlock();
  }
  if (!victim) return busy ? eviction::busy : eviction::nothing;
  if (!victim->try_lock()) return eviction::busy;
  const std::lock_guard lock(*victim, std::adopt_lock);
  for (data_instance* i : victim->body.instances) {
    if (i != leaving || i->last_use != oldest || victim->body.held(*i)) continue;
    evict(victim->body, *i);
    break;
  }
  return eviction::done;  // or somebody has used it meanwhile: look again
}

// A launch would repeat what is part of the recording. All earlier uses are over when this begins.
void coherence::copy_beside_recording(const data_body& d, const data_instance& from, data_instance& to) {
  move(streams_.beside_recording(pe_of(from.place)), d, from, to);
  to.ready.clear();
  to.used.clear();
  to.valid = true;
  copies_.fetch_add(1, std::memory_order_relaxed);
  copied_bytes_.fetch_add(d.what.bytes, std::memory_order_relaxed);
}

void coherence::evict(data_body& d, data_instance& leaving) {
  // What a task left that threw is no value.
  if (leaving.valid && d.valid_instances() == 1 && d.failed_by().empty()) {
    // The user's own memory on the host is as good as any.
    data_instance* refuge = nullptr;
    for (data_instance* i : d.instances)
      if (i->place.is_host()) refuge = i;
    sync_point_list unused;
    if (refuge == nullptr) refuge = &create(d, data_place::host(), unused);
    if (held_ == nullptr)
      copy(d, leaving, *refuge);
    else
      copy_beside_recording(d, leaving, *refuge);
    evictions_.fetch_add(1, std::memory_order_relaxed);
  }
  // The tasks that are recorded start after all this, when they are launched.
  if (held_ != nullptr) memory_of(leaving.place).free(std::exchange(leaving.block, {}), {});
  free(leaving);
  d.instances.erase_if([&](const data_instance& i) { return &i == &leaving; });
}

}  // namespace starling::stf
