// Atomic operations by OpenSHMEM's names, as free functions: the group that makes the call comes first. All are
// relaxed; what each does, and when it is done, is written in device/atomics.hpp.
#pragma once

#include "starling/device/atomics.hpp"
#include "starling/shmem/address.hpp"

namespace starling::shmem {

template <class Address>
concept integral_address = symmetric_address<Address> && std::integral<element_of<Address>>;

// ---- that give what the word held ----

template <class Group, symmetric_address Word>
STARLING_HD element_of<Word> atomic_fetch(const Group& g, Word x, int pe, where at = where::current()) {
  return g.atomic_fetch(symmetric(g, x, at), pe, cuda::memory_order_relaxed, at);
}
template <class Group, integral_address Word>
STARLING_HD element_of<Word> atomic_fetch_inc(const Group& g, Word x, int pe, where at = where::current()) {
  return g.atomic_fetch_inc(symmetric(g, x, at), pe, cuda::memory_order_relaxed, at);
}
template <class Group, symmetric_address Word>
STARLING_HD element_of<Word> atomic_fetch_add(const Group& g, Word x, element_of<Word> value, int pe,
                                              where at = where::current()) {
  return g.atomic_fetch_add(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, integral_address Word>
STARLING_HD element_of<Word> atomic_fetch_and(const Group& g, Word x, element_of<Word> value, int pe,
                                              where at = where::current()) {
  return g.atomic_fetch_and(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, integral_address Word>
STARLING_HD element_of<Word> atomic_fetch_or(const Group& g, Word x, element_of<Word> value, int pe,
                                             where at = where::current()) {
  return g.atomic_fetch_or(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, integral_address Word>
STARLING_HD element_of<Word> atomic_fetch_xor(const Group& g, Word x, element_of<Word> value, int pe,
                                              where at = where::current()) {
  return g.atomic_fetch_xor(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, symmetric_address Word>
STARLING_HD element_of<Word> atomic_swap(const Group& g, Word x, element_of<Word> value, int pe,
                                         where at = where::current()) {
  return g.atomic_swap(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, symmetric_address Word>
STARLING_HD element_of<Word> atomic_compare_swap(const Group& g, Word x, element_of<Word> expected,
                                                 element_of<Word> value, int pe, where at = where::current()) {
  return g.atomic_compare_swap(symmetric(g, x, at), expected, value, pe, cuda::memory_order_relaxed, at);
}

// ---- that give nothing ----

template <class Group, symmetric_address Word>
STARLING_HD void atomic_set(const Group& g, Word x, element_of<Word> value, int pe, where at = where::current()) {
  g.atomic_set(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, integral_address Word>
STARLING_HD void atomic_inc(const Group& g, Word x, int pe, where at = where::current()) {
  g.atomic_inc(symmetric(g, x, at), pe, cuda::memory_order_relaxed, at);
}
template <class Group, symmetric_address Word>
STARLING_HD void atomic_add(const Group& g, Word x, element_of<Word> value, int pe, where at = where::current()) {
  g.atomic_add(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, integral_address Word>
STARLING_HD void atomic_and(const Group& g, Word x, element_of<Word> value, int pe, where at = where::current()) {
  g.atomic_and(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, integral_address Word>
STARLING_HD void atomic_or(const Group& g, Word x, element_of<Word> value, int pe, where at = where::current()) {
  g.atomic_or(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, integral_address Word>
STARLING_HD void atomic_xor(const Group& g, Word x, element_of<Word> value, int pe, where at = where::current()) {
  g.atomic_xor(symmetric(g, x, at), value, pe, cuda::memory_order_relaxed, at);
}

// ---- that give it at `fetch`, after quiet ----

template <class Group, symmetric_address Word>
STARLING_HD void atomic_fetch_nbi(const Group& g, element_of<Word>* fetch, Word x, int pe,
                                  where at = where::current()) {
  g.atomic_fetch_nbi(fetch, symmetric(g, x, at), pe, at);
}
template <class Group, integral_address Word>
STARLING_HD void atomic_fetch_inc_nbi(const Group& g, element_of<Word>* fetch, Word x, int pe,
                                      where at = where::current()) {
  g.atomic_fetch_inc_nbi(fetch, symmetric(g, x, at), pe, at);
}
template <class Group, symmetric_address Word>
STARLING_HD void atomic_fetch_add_nbi(const Group& g, element_of<Word>* fetch, Word x, element_of<Word> value, int pe,
                                      where at = where::current()) {
  g.atomic_fetch_add_nbi(fetch, symmetric(g, x, at), value, pe, at);
}
template <class Group, integral_address Word>
STARLING_HD void atomic_fetch_and_nbi(const Group& g, element_of<Word>* fetch, Word x, element_of<Word> value, int pe,
                                      where at = where::current()) {
  g.atomic_fetch_and_nbi(fetch, symmetric(g, x, at), value, pe, at);
}
template <class Group, integral_address Word>
STARLING_HD void atomic_fetch_or_nbi(const Group& g, element_of<Word>* fetch, Word x, element_of<Word> value, int pe,
                                     where at = where::current()) {
  g.atomic_fetch_or_nbi(fetch, symmetric(g, x, at), value, pe, at);
}
template <class Group, integral_address Word>
STARLING_HD void atomic_fetch_xor_nbi(const Group& g, element_of<Word>* fetch, Word x, element_of<Word> value, int pe,
                                      where at = where::current()) {
  g.atomic_fetch_xor_nbi(fetch, symmetric(g, x, at), value, pe, at);
}
template <class Group, symmetric_address Word>
STARLING_HD void atomic_swap_nbi(const Group& g, element_of<Word>* fetch, Word x, element_of<Word> value, int pe,
                                 where at = where::current()) {
  g.atomic_swap_nbi(fetch, symmetric(g, x, at), value, pe, at);
}
template <class Group, symmetric_address Word>
STARLING_HD void atomic_compare_swap_nbi(const Group& g, element_of<Word>* fetch, Word x, element_of<Word> expected,
                                         element_of<Word> value, int pe, where at = where::current()) {
  g.atomic_compare_swap_nbi(fetch, symmetric(g, x, at), expected, value, pe, at);
}

}  // namespace starling::shmem
