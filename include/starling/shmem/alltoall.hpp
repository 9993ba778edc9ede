// alltoall and alltoalls of a team; names and meanings are OpenSHMEM's. What gather.hpp says of its calls holds for
// these.
#pragma once

#include "starling/shmem/detail/message.hpp"

namespace starling::shmem {

// source of each member has n elements for each member, in the members' order. dest has n elements from each, likewise.
template <class Group, symmetric_address Dest, source_for<Dest> Source>
STARLING_HD void alltoall(const Group& g, const team& t, Dest to, Source from, index_t n, where at = where::current()) {
  using T = element_of<Dest>;
  static_assert(std::is_trivially_copyable_v<T>, "alltoall moves trivially copyable types");
  detail::meeting m(g, t, detail::call_of<T>(operation::team_alltoall, n, at));
  const sym<T> dest = symmetric(g, to, at);
  const sym<T> source = symmetric_source(g, from, at);
  detail::check_count(m, n);
  detail::check_apart(m, dest, n * m.size(), source, n * m.size(), false);
  if (n == 0) return;
  const T* own = source.on(g.pe());
  m.next();
  if (detail::is_small<T>(n)) {
    m.put_words(static_cast<int>(words_for<T>(n)), [&](int i, int k) { return detail::word_of(own + i * n, n, k); });
    detail::take_messages(m, dest, n, 0, m.size(), own + m.me() * n);
    m.heard_all();
  } else {
    const auto part = [&](int i) { return detail::piece<T>{dest + m.me() * n, own + i * n, n}; };
    m.template put<T>(part);
    m.keep(part(m.me()));
    m.await_all();
  }
  m.end();
}

// The same with strides in elements, at least 1: element k for member i is source[(i * n + k) * source_stride], that
// from member i dest[(i * n + k) * dest_stride]. What lies between in dest stays as it is.
template <class Group, symmetric_address Dest, source_for<Dest> Source>
STARLING_HD void alltoalls(const Group& g, const team& t, Dest to, Source from, index_t dest_stride,
                           index_t source_stride, index_t n, where at = where::current()) {
  using T = element_of<Dest>;
  static_assert(std::is_trivially_copyable_v<T>, "alltoalls moves trivially copyable types");
  detail::meeting m(g, t, detail::call_of<T>(operation::team_alltoalls, n, at));
  const sym<T> dest = symmetric(g, to, at);
  const sym<T> source = symmetric_source(g, from, at);
  detail::check_count(m, n);
  if (dest_stride < 1) m.refuse({team_defect::stride, dest_stride, 0, 0});
  if (source_stride < 1) m.refuse({team_defect::stride, source_stride, 0, 0});
  if (n == 0) return;
  const index_t last = n * m.size() - 1;
  detail::check_apart(m, dest, last * dest_stride + 1, source, last * source_stride + 1, false);
  const T* own = source.on(g.pe());
  m.next();
  const auto part = [&](int i) {
    return detail::piece<T>{dest + m.me() * n * dest_stride, own + i * n * source_stride, n, dest_stride,
                            source_stride};
  };
  m.template put<T>(part);
  m.keep(part(m.me()));
  m.await_all();
  m.end();
}

}  // namespace starling::shmem
