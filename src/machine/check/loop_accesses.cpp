#include "loop_accesses.hpp"

#include <bit>
#include <cstring>

namespace starling::check {

const std::byte* loop_accesses::memory_of(const line& l) const {
  return reinterpret_cast<const std::byte*>(marks_.begin + static_cast<std::uintptr_t>(&l - marks_.lines) * 64);
}

std::span<const index_t> loop_accesses::coordinates_of(std::uint32_t element) const {
  return std::span(coordinates_).subspan((element - 1) * dimensions_, dimensions_);
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
    touches& t = touched_[l];
    if (const std::uint64_t met = met_at(*l, t); met != 0) return conflict_at(*l, t, met);
    add(*l, t);
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
  const auto i = static_cast<std::size_t>(first);
  const std::uint64_t one = std::uint64_t{1} << first;
  const bool written_before = (t.written & one) != 0;
  const std::uint32_t before = written_before ? t.writer[i] : t.reader[i];
  const auto side_of = [&](std::uint32_t element, bool writes) {
    const std::span<const index_t> at = coordinates_of(element);
    return element_conflict::side{element, {at.begin(), at.end()}, writes};
  };
  return {number_, side_of(before, written_before), side_of(marks_.element, (l.written & one) != 0),
          reinterpret_cast<std::uintptr_t>(memory_of(l)) + i, static_cast<std::size_t>(std::countr_one(met >> first))};
}

void loop_accesses::add(const line& l, touches& t) const {
  const auto each = [this](std::uint64_t bytes, std::array<std::uint32_t, 64>& by) {
    for (; bytes != 0; bytes &= bytes - 1) by[static_cast<std::size_t>(std::countr_zero(bytes))] = marks_.element;
  };
  each(l.read, t.reader);
  each(l.written, t.writer);
  t.read |= l.read;
  t.written |= l.written;
  if (l.written != 0) std::memcpy(t.held.data(), memory_of(l), t.held.size());
}

}  // namespace starling::check
