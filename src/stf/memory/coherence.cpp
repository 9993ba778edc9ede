#include "coherence.hpp"

#include <algorithm>
#include <iterator>
#include <thread>

#include "data_registry.hpp"
#include "page_map.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"
#include "stf/persistent/operation_list.hpp"
#include "stf/recordings/held_memory.hpp"
#include "stf/recordings/scope_entry.hpp"
#include "stf/submit/scheduler.hpp"

namespace starling::stf {
namespace {

void expect_value(const data_body& d, const data_instance* from) {
  expect<argument_error>(from != nullptr, "stf: ", d.describe(),
                         " is read, but nothing has been written to it; make its first access write()");
}

// Where the data begins in a block that has its ghosts too.
std::size_t aligned_start(const data_layout& what) {
  return (what.ghosts_before() + place_memory::alignment - 1) / place_memory::alignment * place_memory::alignment;
}

}  // namespace

coherence::coherence(machine& m, stream_pool& streams, data_registry& all, std::size_t device_cap,
                     const std::function<slab_source(int)>& source, std::function<bool()> release_pending)
    : machine_(m),
      streams_(streams),
      all_(all),
      release_pending_(std::move(release_pending)),
      checked_(m.checking()),
      patience_(environment::read().deadline) {
  for (int pe = 0; pe < m.size(); ++pe)
    store_->memories.push_back(std::make_unique<place_memory>(m, device_cap, source(pe)));
  for (const int pe : {host_place, managed_place})
    store_->memories.push_back(std::make_unique<place_memory>(m, 0, source(pe)));
}

place_memory& coherence::memory_of(const data_place& place) {
  const int which = place.is_host() ? machine_.size() : place.is_managed() ? machine_.size() + 1 : place.pe();
  return *store_->memories[static_cast<std::size_t>(which)];
}

data_instance* coherence::find(data_body& d, const data_place& place) const {
  for (data_instance* i : d.instances)
    if (i->packed && i->place == place) return i;
  return nullptr;
}

data_instance& coherence::acquire(data_body& d, const data_place& place, bool valid, bool alone,
                                  sync_point_list& before) {
  if (valid) combine_partials(d);
  data_instance* mine = find(d, place);
  if (mine == nullptr) mine = &create_or_combine(d, place, before);
  mine->last_use = ++uses_;
  const bool comes_with_launch = d.in_scope() != nullptr && d.in_scope()->brings(mine, valid && !mine->valid);
  if (comes_with_launch) {
    mine->valid = true;
  } else if (valid && !mine->valid) {
    data_instance* from = nearest(d, place);
    expect_value(d, from);
    copy(d, *from, *mine);
  }
  before.add(mine->ready);
  if (alone) before.add(mine->used);
  return *mine;
}

void coherence::release(data_body& d, data_instance& i, bool wrote, const sync_point_list& end) {
  if (!wrote) {
    i.used.add(end);
    return;
  }
  if (d.in_scope() != nullptr) d.in_scope()->written = true;
  for (data_instance* other : d.instances) other->valid = false;
  i.valid = true;
  i.ready = end;
  i.used.clear();
  ++d.version;
}

void coherence::refresh(const ghost_rows& ghosts, data_instance& i, sync_point_list& before) {
  data_instance::ghost_area& around = i.ghosts();
  around.all.resize(ghosts.sources.size());
  for (std::size_t k = 0; k < ghosts.sources.size(); ++k) {
    const ghost_rows::source& s = ghosts.sources[k];
    combine_partials(s.data->body);
    data_instance::ghost& mine = around.all[k];
    if (mine.version != s.data->body.version + 1) {
      data_instance* from = &source_of_ghosts(s.data->body, i.place, before);
      if (notes_ != nullptr) note_copy(s.data->body, *from, s.from, i, s.to, s.bytes);
      sync_point_list free = from->ready;
      free.add(around.fresh);
      free.add(mine.ready);
      free.add(around.used);
      stream_slot& slot = streams_.for_copy(pe_of(from->place), pe_of(i.place));
      streams_.order(slot, free);
      slot.stream().copy(i.start + s.to, from->start + s.from, s.bytes);
      const sync_point end = slot.record();
      from->used.add(end);
      mine.ready.clear();
      mine.ready.add(end);
      mine.version = s.data->body.version + 1;
      copies_.fetch_add(1, std::memory_order_relaxed);
      copied_bytes_.fetch_add(s.bytes, std::memory_order_relaxed);
    }
    before.add(mine.ready);
  }
}

// While a scope is recorded, a value from before is taken from where it is now, and launches bring it to there.
data_instance& coherence::source_of_ghosts(data_body& d, const data_place& to, sync_point_list& before) {
  data_instance* from = nearest(d, to);
  scope_entry* scope = d.in_scope();
  if (scope != nullptr && scope->had_value && !scope->written && from == nullptr) {
    from = nearest(d, to, [&](data_instance& i) { return i.packed && scope->was_valid(&i); });
    if (from == nullptr) from = &acquire(d, to, true, false, before);
  }
  expect_value(d, from);
  if (scope != nullptr && scope->brings(from, true)) from->valid = true;
  return *from;
}

data_instance* coherence::nearest(const data_body& d, const data_place& to) const {
  return nearest(d, to, [](const data_instance& i) { return i.valid; });
}

// The host last, a copy on the same device first, then one on the same GPU.
template <class F>
data_instance* coherence::nearest(const data_body& d, const data_place& to, const F& usable) const {
  const auto distance = [&](const data_instance& i) {
    const int from = pe_of(i.place);
    const int target = pe_of(to);
    if (from == target) return 0;
    if (from == host_place) return 4;
    if (target == host_place) return 1;
    switch (machine_.link(from, target)) {
      case peer_link::same_device:
        return 1;
      case peer_link::direct:
        return 2;
      default:
        return 3;
    }
  };
  data_instance* best = nullptr;
  for (data_instance* i : d.instances)
    if (usable(*i) && (best == nullptr || distance(*i) < distance(*best))) best = i;
  return best;
}

data_instance& coherence::create(data_body& d, const data_place& place, sync_point_list& before) {
  auto fresh = std::make_unique<data_instance>();
  fresh->place = place;
  fresh->secret = d.secret;
  if (d.what.bytes == 0) {
    // A token, or nothing: there is nothing to allocate.
  } else if (place.is_composite()) {
    local_memory& pages = fresh->rare.change().pages;
    pages = allocate_pages(map_pages(d.what.bytes, d.what.array(), place, machine_.size(), machine_.page_bytes()));
    fresh->start = pages.data();
    name_instance(d, *fresh);
  } else {
    const std::size_t before_it = aligned_start(d.what);
    fresh->block = allocate(d.describe(), before_it + d.what.bytes + d.what.ghosts_after(), place, fresh->ready);
    fresh->start = fresh->block.start + before_it;
    if (d.what.ghosts_before() + d.what.ghosts_after() > 0) fresh->ghosts().fresh = fresh->ready;
  }
  before.add(fresh->ready);
  return d.instances.add(std::move(fresh));
}

data_instance& coherence::create_or_combine(data_body& d, const data_place& place, sync_point_list& before) {
  try {
    return create(d, place, before);
  } catch (const memory_error&) {
    // Its own partial results may be what fills the place.
    if (d.sum().partials.empty() || d.secret) throw;
  }
  combine(d, true);
  data_instance* mine = find(d, place);
  return mine != nullptr ? *mine : create(d, place, before);
}

void coherence::name_instances(data_body& d) {
  if (!checked_) return;
  for (data_instance* i : d.instances) name_instance(d, *i);
}

void coherence::name_instance(const data_body& d, data_instance& i) {
  if (!checked_ || !i.packed || i.start == nullptr) return;
  if (i.block.start != nullptr) return memory_of(i.place).name(i.block, d.describe());
  const std::size_t pages = i.rare->pages.size();
  i.rare.change().label = named_memory(machine_, i.start, pages > 0 ? pages : d.what.bytes, d.describe());
}

memory_block coherence::allocate(const std::string& what, std::size_t bytes, const data_place& place,
                                 sync_point_list& before) {
  place_memory& memory = memory_of(place);
  for (bool trimmed = false;;) {
    const std::uint64_t changes = memory.used().changes;
    if (const auto block = memory.allocate(bytes, before)) {
      if (checked_) memory.name(*block, what);
      return *block;
    }
    const place_memory::usage now = memory.used();
    const bool possible = now.cap == 0 || bytes <= now.cap;
    const eviction moved = possible ? evict_one(place) : eviction::nothing;
    if (moved == eviction::done ||
        (possible && (release_pending_() || release_scratch(place) || release_partials(place))))
      continue;
    if (moved == eviction::busy)
      throw memory_busy(message("stf: ", what, " needs ", format_bytes(bytes), " on ", describe(place),
                                ", where tasks that other threads submit hold what could be moved away (",
                                format_bytes(now.cap > 0 ? now.cap : now.reserved),
                                " in all, waited for STARLING_DEADLINE); submit from fewer threads, or give the "
                                "context a larger cap"));
    // Other threads' instances came and went while evict_one looked at one after the other: look again.
    if (possible && memory.used().changes != changes) continue;
    if (possible && !trimmed && !streams_.recording()) {
      // What is left is pieces: joined again when nobody uses them.
      memory.trim([&](const sync_point_list& uses) {
        streams_.wait(uses);
        return true;
      });
      trimmed = true;
      continue;
    }
    const std::string refusal = memory.refusal();
    throw memory_error(message("stf: ", what, " needs ", format_bytes(bytes), " on ", describe(place), ", which has ",
                               format_bytes(now.largest_free), " in one piece of ",
                               format_bytes(now.cap > 0 ? now.cap : now.reserved),
                               now.cap > 0 ? " (the cap)" : " reserved", refusal.empty() ? "" : "; ", refusal,
                               ", and nothing there can be moved away: the task needs it all at once; use smaller "
                               "pieces, more devices or a larger cap"));
  }
}

memory_block coherence::allocate_or_retry(const std::string& what, std::size_t bytes, const data_place& place,
                                          sync_point_list& before) {
  const auto limit = std::chrono::steady_clock::now() + patience_;
  while (true) {
    try {
      return allocate(what, bytes, place, before);
    } catch (const memory_busy&) {
      if (std::chrono::steady_clock::now() >= limit) throw;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void coherence::retry_when_full(const std::function<void()>& attempt, const std::function<void()>& let_go) {
  try {
    return attempt();
  } catch (const memory_busy&) {
    // Below, where nothing is in flight.
  }
  let_go();
  const std::lock_guard turn(turn_);
  const auto limit = std::chrono::steady_clock::now() + patience_;
  while (true) {
    try {
      return attempt();
    } catch (const memory_busy&) {
      if (std::chrono::steady_clock::now() >= limit) throw;
    }
    let_go();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void coherence::copy(const data_body& d, data_instance& from, data_instance& to) {
  sync_point_list before = from.ready;
  before.add(to.ready);
  before.add(to.used);
  const int from_pe = pe_of(from.place);
  const int to_pe = pe_of(to.place);
  if (notes_ != nullptr) note_copy(d, from, 0, to, 0, d.what.bytes);
  stream_slot& slot = streams_.for_copy(from_pe, to_pe);
  streams_.order(slot, before);
  std::optional<event> begun;
  if (scheduler_ != nullptr && !streams_.recording())
    begun = scheduler_->begin_copy(slot.stream(), from_pe, to_pe, d.what.bytes);
  move(slot.stream(), d, from, to);
  if (begun) scheduler_->end_copy(slot.stream(), std::move(*begun), from_pe, to_pe, d.what.bytes);
  const sync_point end = slot.record();
  from.used.add(end);
  to.ready.clear();
  to.ready.add(end);
  to.used.clear();
  to.valid = true;
  copies_.fetch_add(1, std::memory_order_relaxed);
  copied_bytes_.fetch_add(d.what.bytes, std::memory_order_relaxed);
}

void coherence::move(stream& s, const data_body& d, const data_instance& from, const data_instance& to) {
  if (from.packed && to.packed) {
    if (d.what.bytes > 0) s.copy(to.start, from.start, d.what.bytes);
    return;
  }
  for (const memory_part& p : d.what.original()) {
    if (from.packed)
      s.copy_rows(p.start, p.pitch, from.start + p.offset, p.row_bytes, p.row_bytes, p.rows);
    else
      s.copy_rows(to.start + p.offset, p.row_bytes, p.start, p.pitch, p.row_bytes, p.rows);
  }
}

void coherence::note_copy(const data_body& d, const data_instance& from, std::size_t offset, const data_instance& to,
                          std::ptrdiff_t to_offset, std::size_t bytes) {
  if (bytes == 0) return;
  // Managed memory is reached from the other side.
  const int reading = worked_on_by(from.place.is_managed() ? to.place : from.place);
  const int writing = worked_on_by(to.place.is_managed() ? from.place : to.place);
  if (reading == host_place || writing == host_place) {
    notes_->refused = message("a copy of ", d.describe(), " from ", describe(from.place), " to ", describe(to.place),
                              " in each round; let no task of the body have it on the host");
    return;
  }
  notes_->copy("a copy of " + d.describe(),
               {reading, writing, to.start + to_offset, bytes, from.start + offset, bytes, bytes, 1});
}

memory_block coherence::borrow(std::size_t bytes, const data_place& place, sync_point_list& before) {
  return allocate_or_retry("a task", bytes, place, before);
}

void coherence::give_back(const memory_block& b, const data_place& place, const sync_point_list& uses) {
  if (held_memory* h = held_) return h->keep(place, b);
  memory_of(place).free(b, uses);
}

memory_block coherence::take_scratch(stream_slot& slot, std::size_t bytes) {
  sync_point_list before;
  {
    const std::lock_guard lock(scratch_mutex_);
    const auto mine = std::find_if(scratch_.rbegin(), scratch_.rend(),
                                   [&](const idle_scratch& s) { return s.pe == slot.pe() && s.block.bytes >= bytes; });
    if (mine != scratch_.rend()) {
      const idle_scratch found = std::move(*mine);
      scratch_.erase(std::next(mine).base());
      streams_.order(slot, found.uses);
      return found.block;
    }
  }
  const memory_block fresh = allocate_or_retry("a reduction", bytes, data_place::device(slot.pe()), before);
  streams_.order(slot, before);
  const scoped_stream by_the_library(slot.stream(), nullptr);
  slot.stream().fill(fresh.start, 0, fresh.bytes);
  if (notes_ != nullptr) notes_->zeros.push_back({fresh.start, fresh.bytes});
  return fresh;
}

void coherence::keep_scratch(stream_slot& slot, const memory_block& b, bool as_it_is) {
  sync_point_list uses;
  uses.add(slot.record());
  if (!as_it_is || held_ != nullptr) return give_back(b, data_place::device(slot.pe()), uses);
  const std::lock_guard lock(scratch_mutex_);
  scratch_.push_back({slot.pe(), b, std::move(uses)});
}

bool coherence::release_scratch(const data_place& place) {
  std::vector<idle_scratch> idle;
  {
    const std::lock_guard lock(scratch_mutex_);
    const auto here = std::partition(scratch_.begin(), scratch_.end(),
                                     [&](const idle_scratch& s) { return !(data_place::device(s.pe) == place); });
    std::move(here, scratch_.end(), std::back_inserter(idle));
    scratch_.erase(here, scratch_.end());
  }
  for (const idle_scratch& s : idle) memory_of(place).free(s.block, s.uses);
  return !idle.empty();
}

statistics coherence::statistics() const {
  stf::statistics now;
  now.copies = copies_;
  now.copied_bytes = copied_bytes_;
  now.evictions = evictions_;
  for (std::size_t i = 0; i < store_->memories.size(); ++i) {
    const place_memory::usage u = store_->memories[i]->used();
    const int which = static_cast<int>(i);
    if (which > machine_.size() && u.changes == 0) continue;
    const int pe = which < machine_.size() ? which : which == machine_.size() ? host_place : managed_place;
    now.places.push_back({pe, u.reserved, u.in_use, u.most_in_use, u.largest_free, u.cap});
  }
  return now;
}

}  // namespace starling::stf
