// The words of a wait as the host sees them: what they hold, and whether one compares as wanted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>

#include "starling/base/error.hpp"
#include "starling/device/host_port.hpp"

namespace starling {

inline std::uint64_t widened_bits(word_kind k, std::uint64_t wide, std::uint32_t narrow) {
  if (bytes_of(k) == 8) return wide;
  return k == word_kind::signed_4 ? widened(static_cast<std::int32_t>(narrow)) : widened(narrow);
}

inline const void* address_of(const wait_request& w, index_t i) {
  return static_cast<const std::byte*>(w.local) + i * static_cast<index_t>(bytes_of(w.kind));
}

// What a word holds now, widened; sequentially consistent, as parking wants it.
inline std::uint64_t word_at(word_kind k, const void* address) {
  auto* word = const_cast<void*>(address);
  if (bytes_of(k) == 8) return std::atomic_ref(*static_cast<std::uint64_t*>(word)).load();
  return widened_bits(k, 0, std::atomic_ref(*static_cast<std::uint32_t*>(word)).load());
}
inline std::uint64_t seen_by(const wait_request& w, index_t i) { return word_at(w.kind, address_of(w, i)); }

inline bool counts(const wait_request& w, index_t i) { return w.excluded == nullptr || w.excluded[i] == 0; }

// What word i is compared with.
inline std::uint64_t wanted_by(const wait_request& w, index_t i) {
  if (w.wanted_of == nullptr) return w.wanted;
  const std::size_t bytes = bytes_of(w.kind);
  const auto* value = static_cast<const std::byte*>(w.wanted_of) + static_cast<std::size_t>(i) * bytes;
  std::uint64_t wide = 0;
  std::uint32_t narrow = 0;
  std::memcpy(bytes == 8 ? static_cast<void*>(&wide) : &narrow, value, bytes);
  return widened_bits(w.kind, wide, narrow);
}

inline bool holds(const wait_request& w, index_t i) {
  return counts(w, i) && holds(w.kind, seen_by(w, i), w.how, wanted_by(w, i));
}
inline bool satisfied(const wait_request& w) {
  if (w.n == 1 && counts(w, 0)) {
    const std::uint64_t now = seen_by(w, 0);
    const bool yes = holds(w.kind, now, w.how, wanted_by(w, 0));
    if (yes && w.seen != nullptr) *w.seen = now;
    return yes;
  }
  for (index_t i = 0; i < w.n; ++i)
    if (holds(w, i)) return true;
  return false;
}

// The first word that counts: the one that reports name.
inline index_t first_of(const wait_request& w) {
  index_t i = 0;
  while (i + 1 < w.n && !counts(w, i)) ++i;
  return i;
}

// A value of a word, as its type writes it.
inline std::string value_text(word_kind k, std::uint64_t value) {
  if (is_signed(k)) return message(static_cast<std::int64_t>(value));
  if (is_bits(k)) return message("0x", std::hex, value);
  return message(value);
}

// What a report and a message say of the words of a wait.
inline void set_words(block_report& r, const wait_request& w) {
  const index_t i = first_of(w);
  r.peer = w.from;
  r.how = w.how;
  r.kind = w.kind;
  r.wanted = wanted_by(w, i);
  r.seen = seen_by(w, i);
}

}  // namespace starling
