// Arrays of a team's members combined element by element, in the members' order, by one of three ways. For reductions
// and scans alone.
//
// Small ones are packets to all: one flight. Others go to the working memory of all, who combine them: one flight, and
// each array travels to each member. Long ones are cut into a part for each member, which it combines and sends to all:
// two flights, and each array travels twice. What is longer than the working memory goes in pieces.
#pragma once

#include "starling/shmem/combine.hpp"
#include "starling/shmem/detail/message.hpp"

namespace starling::shmem::detail {

// Element k of the members `0` to `upto` - 1, combined; `own` is this PE's. Nothing is 0.
template <class T, class Op, class Group>
STARLING_HD T folded(const meeting<Group>& m, const T* own, index_t k, int upto, const Op& op) {
  const int pe = m.group().pe();
  T all{};
  for (int i = 0; i < upto; ++i) {
    const T& one = i == m.me() ? own[k] : m.template slot<T>(i).on(pe)[k];
    all = i == 0 ? one : op(all, one);
  }
  return all;
}

// Of packets: the elements of one word, or the words of one element.
template <class T>
struct packed_unit {
  static constexpr bool possible = 8 % sizeof(T) == 0 || (sizeof(T) % 8 == 0 && sizeof(T) <= small_message_bytes);
  static constexpr int words = sizeof(T) > 8 ? static_cast<int>(sizeof(T) / 8) : 1;
  static constexpr int elements = sizeof(T) < 8 ? static_cast<int>(8 / sizeof(T)) : 1;
};

// Unit u of the messages of all members; of those up to `upto` the elements are combined.
template <class T, class Op, class Group>
STARLING_HD void fold_unit(const meeting<Group>& m, const T* own, index_t n, int u, int upto, const Op& op,
                           T (&all)[packed_unit<T>::elements]) {
  using unit = packed_unit<T>;
  constexpr int words = unit::words;
  constexpr int together = words == 1 ? 4 : 1;  // members whose packets are awaited at once
  for (int first = 0; first < m.size(); first += together) {
    std::uint64_t came[together * words] = {};
    m.template take_words<together * words>(
        [&](auto j) { return first + j / words < m.size() && first + j / words != m.me(); },
        [&](auto j) { return first + j / words; }, [&](auto j) { return u * words + j % words; },
        [&](auto j, std::uint64_t word) { came[j] = word; });
    unrolled<together>([&](auto j) {
      const int i = first + j;
      if (i >= upto) return;
      if (i == m.me())
        for (int w = 0; w < words; ++w) came[j * words + w] = word_of(own, n, u * words + w);
      T one[unit::elements];
      memcpy(static_cast<void*>(one), came + j * words, sizeof one);
      for (int e = 0; e < unit::elements; ++e) all[e] = i == 0 ? one[e] : op(all[e], one[e]);
    });
  }
}

template <class T, class Op, class Group>
STARLING_HD void fold_packets(meeting<Group>& m, sym<T> dest, const T* own, index_t n, int upto, const Op& op) {
  using unit = packed_unit<T>;
  const Group& g = m.group();
  m.next();
  m.put_words(static_cast<int>(words_for<T>(n)), [&](int, int k) { return word_of(own, n, k); });
  if (dest.on(g.pe()) == own) g.sync();  // all of it has been sent
  T* to = nullptr;
  if constexpr (target::on_gpu)
    to = dest.on(g.pe());
  else
    to = reinterpret_cast<T*>(g.port().staging(static_cast<std::size_t>(n) * sizeof(T)));
  const int units = static_cast<int>(ceil_div(n, index_t{unit::elements}));
  for (int u = g.member(); u < units; u += g.members()) {
    T all[unit::elements] = {};
    fold_unit(m, own, n, u, upto, op, all);
    for (int e = 0; e < unit::elements; ++e)
      if (u * unit::elements + e < n) to[u * unit::elements + e] = all[e];
  }
  m.heard_all();
  if constexpr (!target::on_gpu) m.keep(piece<T>{dest, to, n});
}

template <class T, class Op, class Group>
STARLING_HD void fold_gathered(meeting<Group>& m, sym<T> dest, const T* own, index_t n, int upto, const Op& op,
                               bool scan) {
  const index_t step = m.template slot_size<T>();
  for (index_t start = 0; start < n; start += step) {
    const index_t size = n - start < step ? n - start : step;
    m.next();
    m.template put<T>(
        [&](int i) { return piece<T>{m.template slot<T>(m.me()), own + start, scan && i < m.me() ? 0 : size}; });
    m.await_all();
    m.keep(dest + start, size, [&](index_t k) { return folded(m, own + start, k, upto, op); });
  }
}

template <class T, class Op, class Group>
STARLING_HD void fold_scattered(meeting<Group>& m, sym<T> dest, const T* own, index_t n, const Op& op) {
  const int pe = m.group().pe();
  const bool in_place = dest.on(pe) == own;
  const index_t step = m.template slot_size<T>() * m.size();
  for (index_t start = 0; start < n; start += step) {
    const index_t all = n - start < step ? n - start : step;
    const index_t each = ceil_div(all, index_t{m.size()});
    const auto begin = [&](int i) { return i * each < all ? i * each : all; };
    const auto size = [&](int i) { return begin(i + 1) - begin(i); };
    m.next();
    const auto part = [&](int i) { return piece<T>{m.template slot<T>(m.me()), own + start + begin(i), size(i)}; };
    // In place what others will write has been written here before: the signal says that it has.
    m.template put<T>(part, in_place);
    m.await_all(in_place);
    const index_t mine = start + begin(m.me());
    m.keep(dest + mine, size(m.me()), [&](index_t k) { return folded(m, own + mine, k, m.size(), op); });
    m.group().sync();
    m.next();
    m.template put<T>([&](int) { return piece<T>{dest + mine, dest.on(pe) + mine, size(m.me())}; });
    m.await_all();
  }
}

template <class Group, class Dest, class Source, class Op>
STARLING_HD void fold(const Group& g, const team& t, Dest to, Source from, index_t n, const Op& op, operation what,
                      where at) {
  using T = element_of<Dest>;
  static_assert(std::is_trivially_copyable_v<T>, "reductions combine trivially copyable types");
  collective_call call = call_of<T>(what, n, at);
  call.by = name_of<Op>();
  meeting m(g, t, call);
  const sym<T> dest = symmetric(g, to, at);
  const sym<T> source = symmetric_source(g, from, at);
  check_count(m, n);
  check_apart(m, dest, n, source, n, true);
  if (n == 0) return;
  const T* own = source.on(g.pe());
  const bool scan = what != operation::team_reduce;
  const int upto = what == operation::team_inscan ? m.me() + 1 : what == operation::team_exscan ? m.me() : m.size();
  const auto others = static_cast<std::uint64_t>(m.size() - 1);
  const bool gathers = scan || m.size() <= 2 || bytes_of<T>(n) * others <= static_cast<std::uint64_t>(t.gather_bytes());
  bool small = false;
  if constexpr (packed_unit<T>::possible) {
    small = is_small<T>(n);
    if (small) fold_packets(m, dest, own, n, upto, op);
  }
  if (!small && gathers) fold_gathered(m, dest, own, n, upto, op, scan);
  if (!small && !gathers) fold_scattered(m, dest, own, n, op);
  m.end();
}

}  // namespace starling::shmem::detail
