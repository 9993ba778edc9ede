#include "thread_accesses.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

namespace starling::check {

thread_accesses::thread_accesses(const line* lines, std::uintptr_t begin, int threads)
    : lines_(lines),
      begin_(begin),
      own_(static_cast<std::size_t>(threads), 1),
      acquired_(static_cast<std::size_t>(threads)) {}

const std::byte* thread_accesses::memory_of(const line& l) const {
  return reinterpret_cast<const std::byte*>(begin_ + static_cast<std::uintptr_t>(&l - lines_) * 64);
}

bool thread_accesses::ordered(const entry& e, const thread_access& a) const {
  if (a.thread == all_threads || e.who.thread == all_threads) return false;
  for (int later = a.thread; later < a.thread + a.count; ++later) {
    const clocks& known = acquired_[static_cast<std::size_t>(later)];
    for (int i = e.who.thread; i < e.who.thread + e.who.count; ++i)
      if (i != later && (known.empty() || known[static_cast<std::size_t>(i)] < e.clock)) return false;
  }
  return true;
}

// By which the access is entered; of several threads, whose clocks are different, their latest from now on.
std::uint32_t thread_accesses::clock_of(const thread_access& a) {
  if (a.thread == all_threads) return 0;
  const auto own = std::span(own_).subspan(static_cast<std::size_t>(a.thread), static_cast<std::size_t>(a.count));
  const std::uint32_t latest = *std::ranges::max_element(own);
  std::ranges::fill(own, latest);
  return latest;
}

bool thread_accesses::same_value(const line& l, const entry& other, std::uint64_t mask) const {
  const std::byte* now = memory_of(l);
  for (std::uint64_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (now[i] != other.held[i]) return false;
  }
  return true;
}

// The bytes at which two accesses meet that nothing orders.
std::uint64_t thread_accesses::met_by(const line& l, const entry& e, const thread_access& a) {
  if ((a.atomic && e.who.atomic) || ordered(e, a)) return 0;
  const std::uint64_t both_write = a.written & e.who.written;
  const std::uint64_t met = (a.written & e.who.read) | (a.read & e.who.written) | both_write;
  const bool plain = a.call == nullptr && e.who.call == nullptr;
  if (met != both_write || met == 0 || !plain || !same_value(l, e, both_write)) return met;
  written_alike_ += static_cast<std::uint64_t>(std::popcount(both_write));
  return 0;
}

std::optional<thread_conflict> thread_accesses::enter(const line& l, const thread_access& a) {
  touches& here = touched_[&l];
  if (here.interval != interval_) here.all.clear();
  here.interval = interval_;
  std::vector<entry>& all = here.all;
  for (const entry& e : all) {
    const std::uint64_t met = met_by(l, e, a);
    if (met == 0) continue;
    const int first = std::countr_zero(met);
    const std::uint64_t one = std::uint64_t{1} << first;
    thread_conflict c;
    c.first = {e.who.thread, e.who.count, (e.who.written & one) != 0, e.who.call, e.who.at};
    c.second = {a.thread, a.count, (a.written & one) != 0, a.call, a.at};
    c.interval = interval_;
    c.address = reinterpret_cast<std::uintptr_t>(memory_of(l)) + static_cast<std::uintptr_t>(first);
    c.bytes = static_cast<std::size_t>(std::countr_one(met >> first));
    return c;
  }
  add(l, all, a);
  return std::nullopt;
}

void thread_accesses::add(const line& l, std::vector<entry>& all, const thread_access& a) {
  const std::uint32_t clock = clock_of(a);
  const auto same = std::find_if(all.begin(), all.end(), [&](const entry& e) {
    return e.who.thread == a.thread && e.who.count == a.count && e.clock == clock && e.who.call == a.call &&
           e.who.atomic == a.atomic && e.who.at.line == a.at.line && e.who.at.file == a.at.file;
  });
  entry& mine = same != all.end() ? *same : all.emplace_back(entry{a, clock, {}});
  mine.who.read |= a.read;
  mine.who.written |= a.written;
  if (a.written != 0) std::memcpy(mine.held.data(), memory_of(l), mine.held.size());
}

void thread_accesses::barrier() {
  ++interval_;
  if (!ordered_some_) return;
  ordered_some_ = false;
  released_.clear();
  released_by_any_.clear();
  std::fill(own_.begin(), own_.end(), 1);
  for (clocks& c : acquired_) c.clear();
}

void thread_accesses::barrier_of(int first, int count) {
  ordered_some_ = true;
  clocks all(own_.size(), 0);
  for (int i = first; i < first + count; ++i) {
    const auto number = static_cast<std::size_t>(i);
    join(all, acquired_[number]);
    all[number] = std::max(all[number], own_[number]++);
  }
  for (int i = first; i < first + count; ++i) acquired_[static_cast<std::size_t>(i)] = all;
}

void thread_accesses::join(clocks& to, const clocks& from) {
  if (to.size() < from.size()) to.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

void thread_accesses::release(int thread, const void* word) {
  ordered_some_ = true;
  const auto number = static_cast<std::size_t>(thread);
  clocks mine = acquired_[number];
  mine.resize(own_.size(), 0);
  mine[number] = own_[number]++;
  join(released_[word], mine);
  join(released_by_any_, mine);
}

void thread_accesses::acquire(int thread, const void* word) {
  const auto by = released_.find(word);
  join(acquired_[static_cast<std::size_t>(thread)], by != released_.end() ? by->second : released_by_any_);
}

}  // namespace starling::check
