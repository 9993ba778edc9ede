#include "sync_variables.hpp"

namespace starling::check {

std::uint32_t sync_variables::at(const void* address, std::size_t bytes) {
  std::uint32_t number = 0;
  const auto where_it_is = reinterpret_cast<std::uintptr_t>(address);
  memory_.over(address, 1, [&](line& l, std::uint64_t) {
    memory_.use(l);
    if (l.sync_variables == 0) {
      groups_.push_back({});
      l.sync_variables = static_cast<std::uint32_t>(groups_.size() - 1);
    }
    std::uint32_t& slot = groups_[l.sync_variables][where_it_is % 64 / 4];
    if (slot == 0) {
      if (used_ == all_.size()) all_.emplace_back();
      sync_variable& w = all_[used_++];
      w.address = where_it_is;
      w.n_releasers = 0;
      w.setter = -1;
      w.bytes = bytes;
      w.raised = false;
      w.by_data = false;
      w.awaited = false;
      slot = static_cast<std::uint32_t>(used_);
    }
    number = slot;
  });
  return number;
}

void sync_variables::raise(sync_variable& w, int block, std::uint32_t number, release& covers) {
  releaser& t = w.of(block);
  snapshots_.drop(t.latest.base);
  t.latest.base = covers.base;  // the operation's share of it passes to the sync variable
  covers.base = nullptr;
  t.latest.stamp = covers.stamp;
  t.latest.orders = covers.orders;
  t.last_arrived = number;
  t.covered.insert(number);
  if (!covers.fenced.empty()) t.covered.merge(covers.fenced);
  w.raised = true;
}

void sync_variables::acquire(const sync_variable& w, scheduled_block& a) {
  for (std::size_t i = 0; i < w.n_releasers; ++i) {
    const releaser& t = w.by[i];
    if (t.latest.base == nullptr) continue;
    const auto b = static_cast<std::size_t>(t.block);
    a.happened_before.complete(b, t.covered);
    snapshots_.drop(a.released);
    if (t.block == a.number) continue;
    clock_pair& clock = a.happened_before.clocks[b];
    clock.reads = std::max(clock.reads, t.latest.stamp);
    if (!t.latest.orders) {
      a.happened_before.join_reads(t.latest.base->happened_before);
      continue;
    }
    clock.writes = std::max(clock.writes, t.latest.stamp);
    if (a.joined[b] != t.latest.base->serial) a.happened_before.join(t.latest.base->happened_before);
    a.joined[b] = t.latest.base->serial;
  }
}

void sync_variables::acquire_value(const sync_variable& w, scheduled_block& a) {
  for (std::size_t i = 0; i < w.n_releasers; ++i) {
    const releaser& t = w.by[i];
    if (t.latest.base == nullptr) continue;
    operation_set one;
    one.insert(t.last_arrived);
    a.happened_before.complete(static_cast<std::size_t>(t.block), one);
    snapshots_.drop(a.released);
    if (t.block == a.number) continue;
    clock_pair& clock = a.happened_before.clocks[static_cast<std::size_t>(t.block)];
    clock.reads = std::max(clock.reads, t.latest.stamp);
    a.happened_before.join_reads(t.latest.base->happened_before);
  }
}

const releaser* sync_variables::unacquired(const sync_variable& w, const scheduled_block& a) const {
  for (std::size_t i = 0; i < w.n_releasers; ++i) {
    const releaser& t = w.by[i];
    if (t.latest.base == nullptr || t.block == a.number) continue;
    if (a.happened_before.clocks[static_cast<std::size_t>(t.block)].reads < t.latest.stamp) return &t;
  }
  return nullptr;
}

}  // namespace starling::check
