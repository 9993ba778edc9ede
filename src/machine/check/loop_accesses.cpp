#include "loop_accesses.hpp"

#include <bit>
#include <cstring>

namespace starling::check {

const std::byte* loop_accesses::memory_of(const line& l) const {
  return reinterpret_cast<const std::byte*>(marks_.begin + static_cast<std::uintptr_t>(&l - marks_.lines) * 64);
}

std::vector<index_t> loop_accesses::coordinates_of(std::uint32_t element) const {
  const auto all = std::span(coordinates_).subspan((element - 1) * dimensions_, dimensions_);
  return {all.begin(), all.end()};
}

loop_accesses::touches& loop_accesses::touches_of(line& l) {
  if (l.in_loop < touched_.size() && touched_[l.in_loop].where == &l) return touched_[l.in_loop];
  const auto [at, added] = places_.try_emplace(&l, static_cast<std::uint32_t>(touched_.size()));
  if (added) touched_.push_back({&l});
  l.in_loop = at->second;
  return touched_[l.in_loop];
}

// Leaves no marks, so that the next ones are those of one element.
void loop_accesses::set_aside() {
  for (line* l : marks_.touched) {
    own_.push_back({l, l->read, l->written});
    l->read = l->written = 0;
  }
  marks_.touched.clear();
}

void loop_accesses::begin() {
  own_.clear();
  set_aside();
  marks_.loop = number_;
}

void loop_accesses::start(std::span<const index_t> at) {
  marks_.element = ++elements_;
  dimensions_ = at.size();
  coordinates_.insert(coordinates_.end(), at.begin(), at.end());
}

std::optional<element_conflict> loop_accesses::enter() {
  if (marks_.element == 0) return std::nullopt;
  for (line* l : marks_.touched) {
    if ((l->read | l->written) == 0) continue;
    touches& t = touches_of(*l);
    if (const std::uint64_t met = met_at(*l, t); met != 0) return conflict_at(*l, t, met);
    t.read |= l->read;
    t.written |= l->written;
    if (l->written != 0) std::memcpy(t.held.data(), memory_of(*l), t.held.size());
  }
  set_aside();
  return std::nullopt;
}

void loop_accesses::end() {
  marks_.loop = marks_.element = 0;
  for (const own& o : own_) {
    line& l = *o.where;
    if ((l.read | l.written) == 0) marks_.touched.push_back(&l);
    l.read |= o.read;
    l.written |= o.written;
  }
}

// The bytes at which the running element meets others, which have all been before it.
std::uint64_t loop_accesses::met_at(const line& l, const touches& t) {
  const std::uint64_t both_write = l.written & t.written;
  const std::uint64_t met = (l.read & t.written) | (l.written & t.read) | both_write;
  if (met == 0 || met != both_write) return met;
  const std::byte* now = memory_of(l);
  for (std::uint64_t left = met; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (now[i] != t.held[i]) return met;
  }
  written_alike_ += static_cast<std::uint64_t>(std::popcount(met));
  return 0;
}

element_conflict loop_accesses::conflict_at(const line& l, const touches& t, std::uint64_t met) const {
  const int first = std::countr_zero(met);
  const std::uint64_t one = std::uint64_t{1} << first;
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(memory_of(l)) + static_cast<std::uintptr_t>(first);
  return {number_,
          other_at(address, (t.written & one) != 0),
          {marks_.element, coordinates_of(marks_.element), (l.written & one) != 0},
          address,
          static_cast<std::size_t>(std::countr_one(met >> first))};
}

// Who has touched a byte before the running element, as a replay has seen it.
element_conflict::side loop_accesses::other_at(std::uintptr_t address, bool writes) const {
  for (const seen_access& s : marks_.seen)
    if (s.loop == number_ && s.element != marks_.element && s.element != 0 && s.write == writes &&
        address - s.address < s.bytes)
      return {s.element, coordinates_of(s.element), writes};
  return {0, {}, writes};
}

}  // namespace starling::check
