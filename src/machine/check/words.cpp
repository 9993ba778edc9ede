#include "words.hpp"

namespace starling::check {

std::uint32_t words::at(const void* address, std::size_t bytes) {
  std::uint32_t number = 0;
  const auto where_it_is = reinterpret_cast<std::uintptr_t>(address);
  memory_.over(address, 1, [&](line& l, std::uint64_t) {
    memory_.use(l);
    if (l.words == 0) {
      groups_.push_back({});
      l.words = static_cast<std::uint32_t>(groups_.size() - 1);
    }
    std::uint32_t& slot = groups_[l.words][where_it_is % 64 / 4];
    if (slot == 0) {
      if (used_ == all_.size()) all_.emplace_back();
      word& w = all_[used_++];
      w.address = where_it_is;
      w.tellers = 0;
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

void words::raise(word& w, int block, std::uint32_t number, release& covers) {
  told& t = w.of(block);
  snapshots_.drop(t.latest.base);
  t.latest.base = covers.base;  // the operation's share of it passes to the word
  covers.base = nullptr;
  t.latest.stamp = covers.stamp;
  t.latest.orders = covers.orders;
  t.last_arrived = number;
  t.covered.insert(number);
  if (!covers.fenced.empty()) t.covered.merge(covers.fenced);
  w.raised = true;
}

void words::learn(const word& w, actor& a) {
  for (std::size_t i = 0; i < w.tellers; ++i) {
    const told& t = w.by[i];
    if (t.latest.base == nullptr) continue;
    const auto b = static_cast<std::size_t>(t.block);
    a.known.complete(b, t.covered);
    snapshots_.drop(a.released);
    if (t.block == a.number) continue;
    clock_pair& clock = a.known.clocks[b];
    clock.reads = std::max(clock.reads, t.latest.stamp);
    if (!t.latest.orders) {
      a.known.join_reads(t.latest.base->known);
      continue;
    }
    clock.writes = std::max(clock.writes, t.latest.stamp);
    if (a.joined[b] != t.latest.base->serial) a.known.join(t.latest.base->known);
    a.joined[b] = t.latest.base->serial;
  }
}

void words::take(const word& w, actor& a) {
  for (std::size_t i = 0; i < w.tellers; ++i) {
    const told& t = w.by[i];
    if (t.latest.base == nullptr) continue;
    operation_set one;
    one.insert(t.last_arrived);
    a.known.complete(static_cast<std::size_t>(t.block), one);
    snapshots_.drop(a.released);
    if (t.block == a.number) continue;
    clock_pair& clock = a.known.clocks[static_cast<std::size_t>(t.block)];
    clock.reads = std::max(clock.reads, t.latest.stamp);
    a.known.join_reads(t.latest.base->known);
  }
}

const told* words::unknown(const word& w, const actor& a) const {
  for (std::size_t i = 0; i < w.tellers; ++i) {
    const told& t = w.by[i];
    if (t.latest.base == nullptr || t.block == a.number) continue;
    if (a.known.clocks[static_cast<std::size_t>(t.block)].reads < t.latest.stamp) return &t;
  }
  return nullptr;
}

}  // namespace starling::check
