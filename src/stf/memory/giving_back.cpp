// What of coherence gives memory back: instances and partial results go, values return to the user's memory, secrets
// are wiped, and what only finished work can give back is kept until that is over.
#include <cstring>
#include <mutex>
#include <utility>

#include "coherence.hpp"
#include "starling/machine/access_scope.hpp"
#include "stf/persistent/operation_list.hpp"
#include "stf/recordings/held_memory.hpp"

namespace starling::stf {

void coherence::give_back(held_memory& h, const sync_point_list& uses) {
  for (const held_memory::block& b : h.take_blocks()) give_back(b.memory, b.place, uses);
  const std::lock_guard lock(mutex_);
  for (held_memory::range& r : h.take_ranges()) store_->retired.push_back({std::move(r.pages), std::move(r.pin), uses});
}

void coherence::write_back(data_body& d) {
  if (!d.to_be_written_back()) return;
  combine_partials(d);
  for (data_instance* i : d.instances)
    if (i->users_memory && !i->valid) copy(d, *nearest(d, i->place), *i);
}

void coherence::drop(data_body& d) {
  drop_partials(d);
  for (data_instance* i : d.instances) free(*i);
  d.instances.clear();
}

void coherence::drop_users_memory(data_body& d, bool users) {
  if (!users) drop_partials(d);
  for (data_instance* i : d.instances)
    if (i->users_memory == users) free(*i);
  d.instances.erase_if([=](const data_instance& i) { return i.users_memory == users; });
}

void coherence::wipe(std::byte* start, std::size_t bytes, const data_place& place, sync_point_list& uses) {
  if (notes_ != nullptr) notes_->refused = "data that is wiped in each round (logical_data::set_secret)";
  const int pe = pe_of(place);
  stream_slot& slot = streams_.for_copy(pe, pe);
  streams_.order(slot, uses);
  const scoped_stream by_the_library(slot.stream(), nullptr);
  if (pe == host_place)
    slot.stream().call([=] { std::memset(start, 0, bytes); });
  else
    slot.stream().fill(start, 0, bytes);
  uses.clear();
  uses.add(slot.record());
}

void coherence::free(data_instance& i) {
  sync_point_list uses = i.ready;
  uses.add(i.used);
  i.add_ghost_uses(uses);
  if (i.secret && i.block.start != nullptr) wipe(i.block.start, i.block.bytes, i.place, uses);
  if (i.block.start != nullptr) give_back(i.block, i.place, uses);
  if (!i.rare) return;
  data_instance::rare_state& rare = i.rare.change();
  if (i.secret && rare.pages.size() > 0) wipe(rare.pages.data(), rare.pages.size(), i.place, uses);
  if (rare.pages.size() == 0 && !rare.pin.owns()) return;
  if (held_memory* h = held_) return h->keep({std::move(rare.pages), std::move(rare.pin)});
  const std::lock_guard lock(mutex_);
  constexpr std::size_t many = 64;
  if (store_->retired.size() % many == many - 1)
    std::erase_if(store_->retired, [this](const retired_memory& r) { return streams_.over(r.uses); });
  store_->retired.push_back({std::move(rare.pages), std::move(rare.pin), std::move(uses)});
}

void coherence::reclaim(bool all) {
  const std::lock_guard lock(mutex_);
  std::erase_if(store_->retired, [&](const retired_memory& r) { return all || streams_.over(r.uses); });
}

void coherence::return_to_allocators() {
  for (int pe = host_place; pe < machine_.size(); ++pe) {
    const data_place place = pe == host_place ? data_place::host() : data_place::device(pe);
    place_memory& memory = memory_of(place);
    if (!memory.of_user()) continue;
    release_scratch(place);
    memory.trim([](const sync_point_list&) { return true; });
  }
}

// Waits for retired ones when memory does not suffice otherwise, which it cannot while work is recorded.
local_memory coherence::allocate_pages(const std::vector<placed_bytes>& pieces) {
  reclaim(false);
  try {
    return machine_.allocate_over(pieces);
  } catch (const memory_error&) {
    if (streams_.recording()) throw;
  }
  std::vector<retired_memory> old;
  {
    const std::lock_guard lock(mutex_);
    old.swap(store_->retired);
  }
  for (const retired_memory& r : old) streams_.wait(r.uses);
  old.clear();
  return machine_.allocate_over(pieces);
}

}  // namespace starling::stf
