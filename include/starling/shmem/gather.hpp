// broadcast, collect and fcollect of a team; names and meanings are OpenSHMEM's. Collectives of a group g (a block, or
// a warp or thread of it) of every member: shmem/team.hpp says who meets whom. dest
// and source are symmetric addresses (shmem/address.hpp) of elements of one trivially copyable type.
//
// dest of every member is ready to be written before any member calls. On return dest of the caller is written, every
// thread of its group may read it, and its source may be reused; other members may still be at it. No other memory is
// ordered. Arrays of up to 32 bytes come after one flight.
//
// A caller that is no member, a negative count and arrays that overlap end the program on every PE: the host throws
// argument_error or range_error. So does a member that waits for another in vain: stall_error.
#pragma once

#include "starling/shmem/detail/message.hpp"

namespace starling::shmem {

// n elements of source of the member `root`, a number in the team, to dest of all members. dest and source may be the
// same.
template <class Group, symmetric_address Dest, source_for<Dest> Source>
STARLING_HD void broadcast(const Group& g, const team& t, Dest to, Source from, index_t n, int root,
                           where at = where::current()) {
  using T = element_of<Dest>;
  static_assert(std::is_trivially_copyable_v<T>, "broadcast moves trivially copyable types");
  collective_call call = detail::call_of<T>(operation::team_broadcast, n, at);
  const bool there = root >= 0 && root < t.size();
  call.root = there ? t.pe(root) : root;
  detail::meeting m(g, t, call);
  const sym<T> dest = symmetric(g, to, at);
  const sym<T> source = symmetric_source(g, from, at);
  if (!there) m.refuse({team_defect::no_root, root, static_cast<std::uint64_t>(t.size()), 0});
  detail::check_count(m, n);
  detail::check_apart(m, dest, n, source, n, true);
  if (n == 0) return;
  const T* own = source.on(g.pe());
  m.next();
  if (detail::is_small<T>(n)) {
    if (m.me() == root)
      m.put_words(static_cast<int>(words_for<T>(n)), [&](int, int k) { return detail::word_of(own, n, k); });
    m.arrive();
    detail::take_messages(m, dest, n, root, root + 1, own);
  } else if (m.me() == root) {
    m.template put<T>([&](int) { return detail::piece<T>{dest, own, n}; });
    m.keep(detail::piece<T>{dest, own, n});
  } else {
    m.arrive();
    m.await(m.round(), root, root + 1, false);
  }
  m.end();
}

// n elements of source of each member, in the members' order, to dest of all: n * team_n_pes(t) elements.
template <class Group, symmetric_address Dest, source_for<Dest> Source>
STARLING_HD void fcollect(const Group& g, const team& t, Dest to, Source from, index_t n, where at = where::current()) {
  using T = element_of<Dest>;
  static_assert(std::is_trivially_copyable_v<T>, "fcollect moves trivially copyable types");
  detail::meeting m(g, t, detail::call_of<T>(operation::team_fcollect, n, at));
  const sym<T> dest = symmetric(g, to, at);
  const sym<T> source = symmetric_source(g, from, at);
  detail::check_count(m, n);
  detail::check_apart(m, dest, n * m.size(), source, n, false);
  if (n == 0) return;
  const T* own = source.on(g.pe());
  m.next();
  if (detail::is_small<T>(n)) {
    m.put_words(static_cast<int>(words_for<T>(n)), [&](int, int k) { return detail::word_of(own, n, k); });
    detail::take_messages(m, dest, n, 0, m.size(), own);
    m.heard_all();
  } else {
    const detail::piece<T> mine{dest + m.me() * n, own, n};
    m.template put<T>([&](int) { return mine; });
    m.keep(mine);
    m.await_all();
  }
  m.end();
}

// As fcollect with a count of each member's own: dest has the elements of member 0, then those of member 1, and so on.
// Counts come with the first 24 bytes of data; if there is more, the data follows after a second flight.
template <class Group, symmetric_address Dest, source_for<Dest> Source>
STARLING_HD void collect(const Group& g, const team& t, Dest to, Source from, index_t n, where at = where::current()) {
  using T = element_of<Dest>;
  static_assert(std::is_trivially_copyable_v<T>, "collect moves trivially copyable types");
  detail::meeting m(g, t, detail::call_of<T>(operation::team_collect, 1, at));
  const sym<T> dest = symmetric(g, to, at);
  const sym<T> source = symmetric_source(g, from, at);
  detail::check_count(m, n);
  const T* own = source.on(g.pe());
  const auto words = [](index_t count) { return count == 0 ? 0 : static_cast<int>(words_for<T>(count)); };
  const auto comes_along = [](index_t count) {
    return count <= (small_message_bytes - 8) / static_cast<index_t>(sizeof(T));
  };
  m.next();
  m.put_words(1 + (comes_along(n) ? words(n) : 0),
              [&](int, int k) { return k == 0 ? static_cast<std::uint64_t>(n) : detail::word_of(own, n, k - 1); });
  index_t mine = 0;   // where this PE's elements begin
  index_t begin = 0;  // and those of member i
  bool more = false;
  for (int i = 0; i < m.size(); ++i) {
    const index_t count = i == m.me() ? n : static_cast<index_t>(m.take_word(i, 0));
    if (i == m.me()) {
      mine = begin;
    } else if (comes_along(count)) {
      if constexpr (target::on_gpu) {
        for (int k = g.member(); k < words(count); k += g.members())
          detail::store_word(dest.on(g.pe()) + begin, count, k, m.take_word(i, 1 + k));
      } else {
        T came[small_message_bytes / sizeof(T) + 1];
        for (int k = 0; k < words(count); ++k) detail::store_word(came, count, k, m.take_word(i, 1 + k));
        m.keep(detail::piece<T>{dest + begin, came, count});
      }
    }
    more = more || !comes_along(count);
    begin += count;
  }
  detail::check_apart(m, dest, begin, source, n, false);
  m.heard_all();
  const detail::piece<T> part{dest + mine, own, n};
  m.keep(part);
  if (more) {
    m.next();
    if (comes_along(n))
      m.arrive();
    else
      m.template put<T>([&](int) { return part; });
    m.await_all();
  }
  m.end();
}

}  // namespace starling::shmem
