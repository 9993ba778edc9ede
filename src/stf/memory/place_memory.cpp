#include "place_memory.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "starling/base/error.hpp"
#include "user_allocator.hpp"

namespace starling::stf {
namespace {

// What is taken from the machine at a time when there is no cap: few driver calls, little waste.
constexpr std::size_t step_on_gpu = std::size_t{256} << 20;
constexpr std::size_t step_on_host = std::size_t{4} << 20;

std::size_t rounded(std::size_t bytes) {
  const std::size_t least = std::max<std::size_t>(bytes, 1);
  return (least + place_memory::alignment - 1) / place_memory::alignment * place_memory::alignment;
}

}  // namespace

place_memory::place_memory(machine m, std::size_t cap, slab_source source)
    : machine_(std::move(m)), cap_(cap), source_(std::move(source)), checked_(machine_.checking()) {
  used_.cap = cap;
}

std::optional<memory_block> place_memory::allocate(std::size_t bytes, sync_point_list& before) {
  const std::size_t wanted = checked_ ? std::max<std::size_t>(bytes, 1) : rounded(bytes);
  const std::lock_guard lock(mutex_);
  auto fit = by_size_.lower_bound({wanted, nullptr});
  if (fit == by_size_.end() || (checked_ && fit->first != wanted)) {
    if (!grow(wanted)) return std::nullopt;
    fit = by_size_.lower_bound({wanted, nullptr});
  }
  const auto found = free_.find(fit->second);
  const memory_block result{found->first, wanted};
  free_block rest = found->second;
  before.add(rest.uses);
  erase(found);
  if (rest.bytes > wanted) {
    rest.bytes -= wanted;
    insert(result.start + wanted, std::move(rest));
  }
  used_.in_use += wanted;
  ++used_.changes;
  used_.most_in_use = std::max(used_.most_in_use, used_.in_use);
  return result;
}

void place_memory::name(const memory_block& b, const std::string& name) {
  if (!checked_) return;
  const std::lock_guard lock(mutex_);
  names_[b.start] = {name, named_memory(machine_, b.start, b.bytes, name)};
}

void place_memory::free(const memory_block& b, const sync_point_list& uses) {
  const std::lock_guard lock(mutex_);
  if (const auto named = names_.find(b.start); named != names_.end())
    named->second.second =
        named_memory(machine_, b.start, b.bytes, "memory that was given back by " + named->second.first);
  used_.in_use -= b.bytes;
  ++used_.changes;
  insert(b.start, {b.bytes, slab_of(b.start), uses});
}

void place_memory::trim(const std::function<bool(const sync_point_list&)>& over) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < slabs_.size(); ++i) {
    const auto all = free_.find(slabs_[i].start);
    if (slabs_[i].bytes == 0 || all == free_.end() || all->second.bytes != slabs_[i].bytes) continue;
    if (!over(all->second.uses)) continue;
    used_.reserved -= slabs_[i].bytes;
    erase(all);
    names_.erase(slabs_[i].start);
    slabs_[i] = {};
  }
}

place_memory::usage place_memory::used() const {
  const std::lock_guard lock(mutex_);
  usage now = used_;
  now.largest_free = largest_free();
  return now;
}

std::string place_memory::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

std::size_t place_memory::largest_free() const {
  if (checked_ && cap_ > 0) return cap_ - std::min(cap_, used_.in_use);
  return by_size_.empty() ? 0 : by_size_.rbegin()->first;
}

bool place_memory::grow(std::size_t bytes) {
  slab_wish wish{bytes, bytes, bytes};
  if (checked_) {
    if (cap_ > 0 && used_.in_use + bytes > cap_) return false;
  } else if (cap_ > 0) {
    if (used_.reserved + bytes > cap_) return false;
    wish.wanted = wish.most = (cap_ - used_.reserved) / alignment * alignment;
  } else {
    wish.wanted = std::max(bytes, machine_.kind() == machine_kind::cuda ? step_on_gpu : step_on_host);
    wish.most = std::numeric_limits<std::size_t>::max();
  }
  try {
    slabs_.push_back(source_.take(wish));
  } catch (const allocator_refusal& e) {
    refusal_ = e.what();
    return false;
  } catch (const memory_error&) {
    return false;
  }
  refusal_.clear();
  slab& fresh = slabs_.back();
  used_.reserved += fresh.bytes;
  insert(fresh.start, {fresh.bytes, slabs_.size() - 1, std::exchange(fresh.ready, {})});
  return true;
}

std::size_t place_memory::slab_of(const std::byte* start) const {
  std::size_t i = 0;
  while (start < slabs_[i].start || start >= slabs_[i].start + slabs_[i].bytes) ++i;
  return i;
}

void place_memory::insert(std::byte* start, free_block b) {
  const auto next = free_.lower_bound(start);
  if (next != free_.end() && next->second.slab == b.slab && start + b.bytes == next->first) {
    b.bytes += next->second.bytes;
    b.uses.add(next->second.uses);
    erase(next);
  }
  const auto after = free_.lower_bound(start);
  if (after != free_.begin()) {
    const auto previous = std::prev(after);
    if (previous->second.slab == b.slab && previous->first + previous->second.bytes == start) {
      start = previous->first;
      b.bytes += previous->second.bytes;
      b.uses.add(previous->second.uses);
      erase(previous);
    }
  }
  by_size_.insert({b.bytes, start});
  free_.emplace(start, std::move(b));
}

void place_memory::erase(free_map::iterator b) {
  by_size_.erase({b->second.bytes, b->first});
  free_.erase(b);
}

}  // namespace starling::stf
