// Arrays that members of a team hand one another, small ones as packets, and what is checked of them. For the
// collectives alone.
#pragma once

#include "starling/shmem/address.hpp"
#include "starling/shmem/detail/meeting.hpp"

namespace starling::shmem::detail {

// n elements fit into one small message.
template <class T>
STARLING_HD constexpr bool is_small(index_t n) {
  return n <= small_message_bytes / static_cast<index_t>(sizeof(T));
}

// For comparisons; of a count that makes no sense, more than there can be.
template <class T>
STARLING_HD constexpr std::uint64_t bytes_of(index_t n) {
  constexpr index_t most = (index_t{1} << 48) / static_cast<index_t>(sizeof(T));
  return static_cast<std::uint64_t>(n < most ? n : most) * sizeof(T);
}

template <class T>
STARLING_HD collective_call call_of(operation op, index_t n, where at) {
  collective_call c;
  c.op = op;
  c.bytes = n < 0 ? 0 : static_cast<std::size_t>(bytes_of<T>(n));
  c.at = at;
  return c;
}

// Ends the program for a negative count.
template <class Group>
STARLING_HD void check_count(const meeting<Group>& m, index_t n) {
  if (n < 0) m.refuse({team_defect::negative, n, 0, 0});
}

// Ends the program when dest and source share a part but are not the same, or not even that is allowed.
template <class T, class Group>
STARLING_HD void check_apart(const meeting<Group>& m, sym<T> dest, index_t dest_n, sym<T> source, index_t source_n,
                             bool same_allowed) {
  const auto to = reinterpret_cast<std::uintptr_t>(dest.on(0));
  const auto from = reinterpret_cast<std::uintptr_t>(source.on(0));
  const std::uint64_t to_bytes = bytes_of<T>(dest_n);
  const std::uint64_t from_bytes = bytes_of<T>(source_n);
  if (to == from && same_allowed) return;
  if (to < from + from_bytes && from < to + to_bytes) m.refuse({team_defect::overlap, 0, to_bytes, from_bytes});
}

// Word k of a message of n elements, as packets carry it.
template <class T>
STARLING_HD std::uint64_t word_of(const T* source, index_t n, index_t k) {
  return word_of_message<T>([source](index_t i) { return source[i]; }, n, k);
}

// Word k of a message of n elements goes to its place among them.
template <class T>
STARLING_HD void store_word(T* message, index_t n, index_t k, std::uint64_t word) {
  unsigned char* to = reinterpret_cast<unsigned char*>(message) + 8 * k;
  const std::uint64_t left = static_cast<std::uint64_t>(n) * sizeof(T) - 8 * static_cast<std::uint64_t>(k);
  if (left >= 8 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0)
    memcpy(__builtin_assume_aligned(to, 8), &word, 8);
  else
    memcpy(to, &word, left < 8 ? left : 8);
}

// The messages of n elements of the members `first` to `last` - 1, one after the other in dest. `own`: this PE's.
template <class T, class Group>
STARLING_HD void take_messages(meeting<Group>& m, sym<T> dest, index_t n, int first, int last, const T* own) {
  const int words = static_cast<int>(words_for<T>(n));
  const Group& g = m.group();
  const int me = m.me();
  const bool among = me >= first && me < last;
  if constexpr (target::on_gpu) {
    T* to = dest.on(g.pe());
    constexpr int at_once = 4;
    const int all = (last - first) * words;
    for (int start = g.member(); start < all; start += at_once * g.members()) {
      const auto place = [&](auto j) { return start + j * g.members(); };
      const auto from = [&](auto j) { return first + place(j) / words; };
      m.template take_words<at_once>(
          [&](auto j) { return place(j) < all && from(j) != me; }, from, [&](auto j) { return place(j) % words; },
          [&](auto j, std::uint64_t word) { store_word(to + (from(j) - first) * n, n, place(j) % words, word); });
    }
    if (among) m.keep(piece<T>{dest + (me - first) * n, own, n});
  } else {
    const auto bytes = static_cast<std::size_t>((last - first) * n) * sizeof(T);
    T* staged = reinterpret_cast<T*>(g.port().staging(bytes));
    for (int i = first; i < last; ++i) {
      T* to = staged + (i - first) * n;
      if (i == me)
        for (index_t k = g.member(); k < n; k += g.members()) to[k] = own[k];
      else
        for (int k = g.member(); k < words; k += g.members()) store_word(to, n, k, m.take_word(i, k));
    }
    m.keep(piece<T>{dest, staged, (last - first) * n});
  }
}

}  // namespace starling::shmem::detail
