// OpenSHMEM's remote memory access: put and get in all forms, fence and quiet, ptr. The group that makes the call - a
// block, a warp, a thread or a context - comes first; all its threads call with the same arguments. Elements are
// counted and strides are in elements. Meanings are those of the group's own calls (device/communication.hpp), by
// which the bytes move.
//
// An address on the far side is a symmetric one (shmem/address.hpp): a sym<T> or a pointer into one's own symmetric
// memory. A PE that does not exist, memory that is not one live allocation, and a pointer that is not symmetric end the
// program; the host throws range_error. `at` is where the call stands, for reports; leave it to its default.
#pragma once

#include "starling/shmem/address.hpp"

namespace starling::shmem {

namespace detail {

// Whether what does not block has ended with the group's threads: on a GPU, but by way of a network card.
template <class Group>
STARLING_HD bool ends_with_its_threads(const Group& who, int pe) {
  const bool exists = pe >= 0 && pe < who.n_pes();
  return target::on_gpu && !(exists && who.behind_card(pe));
}

}  // namespace detail

template <class Group>
STARLING_HD int my_pe(const Group& who) {
  return who.pe();
}
template <class Group>
STARLING_HD int n_pes(const Group& who) {
  return who.n_pes();
}

// ---- put: on return the source may be reused; the data arrives by fence() or quiet() ----

template <class Group, symmetric_address Dest>
[[gnu::always_inline]] STARLING_HD inline void put(const Group& who, Dest dest, const element_of<Dest>* source,
                                                   index_t n, int pe, where at = where::current()) {
  who.put(symmetric(who, dest, at), source, n, pe, at);
}
template <class Group, symmetric_address Dest>
[[gnu::always_inline]] STARLING_HD inline void iput(const Group& who, Dest dest, const element_of<Dest>* source,
                                                    index_t dest_stride, index_t source_stride, index_t n, int pe,
                                                    where at = where::current()) {
  who.iput(symmetric(who, dest, at), dest_stride, source, source_stride, n, pe, at);
}
// Pieces of `piece` elements each, whose starts are so many elements apart.
template <class Group, symmetric_address Dest>
STARLING_HD void ibput(const Group& who, Dest dest, const element_of<Dest>* source, index_t dest_stride,
                       index_t source_stride, index_t piece, index_t pieces, int pe, where at = where::current()) {
  const auto there = symmetric(who, dest, at);
  const bool together = detail::ends_with_its_threads(who, pe);
  for (index_t i = 0; i < pieces; ++i) {
    if (together)
      who.put_nbi(there + i * dest_stride, source + i * source_stride, piece, pe, at);
    else
      who.put(there + i * dest_stride, source + i * source_stride, piece, pe, at);
  }
  if (together) who.sync();
}
template <class Group, symmetric_address Dest>
STARLING_HD void p(const Group& who, Dest dest, const element_of<Dest>& value, int pe, where at = where::current()) {
  who.p(symmetric(who, dest, at), value, pe, at);
}
template <class Group, symmetric_address Dest>
[[gnu::always_inline]] STARLING_HD inline void putmem(const Group& who, Dest dest, const void* source, index_t bytes,
                                                      int pe, where at = where::current()) {
  put(who, bytes_at(dest), bytes_at(source), bytes, pe, at);
}

// The source must stay as it is until quiet().
template <class Group, symmetric_address Dest>
[[gnu::always_inline]] STARLING_HD inline void put_nbi(const Group& who, Dest dest, const element_of<Dest>* source,
                                                       index_t n, int pe, where at = where::current()) {
  who.put_nbi(symmetric(who, dest, at), source, n, pe, at);
}
template <class Group, symmetric_address Dest>
[[gnu::always_inline]] STARLING_HD inline void putmem_nbi(const Group& who, Dest dest, const void* source,
                                                          index_t bytes, int pe, where at = where::current()) {
  put_nbi(who, bytes_at(dest), bytes_at(source), bytes, pe, at);
}

// ---- get: on return the data is there, for every thread of the group ----

template <class Group, symmetric_address Source>
[[gnu::always_inline]] STARLING_HD inline void get(const Group& who, element_of<Source>* dest, Source source, index_t n,
                                                   int pe, where at = where::current()) {
  who.get(dest, symmetric_source(who, source, at), n, pe, at);
}
template <class Group, symmetric_address Source>
[[gnu::always_inline]] STARLING_HD inline void iget(const Group& who, element_of<Source>* dest, Source source,
                                                    index_t dest_stride, index_t source_stride, index_t n, int pe,
                                                    where at = where::current()) {
  who.iget(dest, dest_stride, symmetric_source(who, source, at), source_stride, n, pe, at);
}
// As ibput.
template <class Group, symmetric_address Source>
STARLING_HD void ibget(const Group& who, element_of<Source>* dest, Source source, index_t dest_stride,
                       index_t source_stride, index_t piece, index_t pieces, int pe, where at = where::current()) {
  const auto there = symmetric_source(who, source, at);
  const bool together = detail::ends_with_its_threads(who, pe);
  for (index_t i = 0; i < pieces; ++i) {
    if (together)
      who.get_nbi(dest + i * dest_stride, there + i * source_stride, piece, pe, at);
    else
      who.get(dest + i * dest_stride, there + i * source_stride, piece, pe, at);
  }
  if (together) who.sync();
}
template <class Group, symmetric_address Source>
STARLING_HD element_of<Source> g(const Group& who, Source source, int pe, where at = where::current()) {
  return who.g(symmetric_source(who, source, at), pe, at);
}
template <class Group, symmetric_address Source>
[[gnu::always_inline]] STARLING_HD inline void getmem(const Group& who, void* dest, Source source, index_t bytes,
                                                      int pe, where at = where::current()) {
  get(who, bytes_at(dest), bytes_at(source), bytes, pe, at);
}

// The destination is not to be touched until quiet().
template <class Group, symmetric_address Source>
[[gnu::always_inline]] STARLING_HD inline void get_nbi(const Group& who, element_of<Source>* dest, Source source,
                                                       index_t n, int pe, where at = where::current()) {
  who.get_nbi(dest, symmetric_source(who, source, at), n, pe, at);
}
template <class Group, symmetric_address Source>
[[gnu::always_inline]] STARLING_HD inline void getmem_nbi(const Group& who, void* dest, Source source, index_t bytes,
                                                          int pe, where at = where::current()) {
  get_nbi(who, bytes_at(dest), bytes_at(source), bytes, pe, at);
}

// ---- order, of the group's context ----

// What was put before arrives, at each PE, before what is put and signalled after.
template <class Group>
STARLING_HD void fence(const Group& who) {
  who.fence();
}
// What was put before has arrived, and gets are complete.
template <class Group>
STARLING_HD void quiet(const Group& who) {
  who.quiet();
}

// ---- in place ----

// Where the copy of `pe` can be loaded and stored in place; null where only calls reach it (today: no PE).
template <class Group, symmetric_address Address>
STARLING_HD auto ptr(const Group& who, Address address, int pe, where at = where::current()) {
  return who.ptr(symmetric(who, address, at), pe, at);
}
// Whether there is such a PE; every PE of a machine can be reached.
template <class Group>
STARLING_HD bool pe_accessible(const Group& who, int pe) {
  return pe >= 0 && pe < who.n_pes();
}
// Whether the address is symmetric and its copy on `pe` can be reached.
template <class Group>
STARLING_HD bool addr_accessible(const Group& who, const void* address, int pe) {
  return is_own_symmetric(who.state(), address) && pe_accessible(who, pe);
}

}  // namespace starling::shmem
