// Atomic operations by OpenSHMEM's names, as free functions: the group that makes the call comes first. All are
// relaxed; what each does, and when it is done, is written in device/atomics.hpp.
#pragma once

#include "starling/device/atomics.hpp"

namespace starling::shmem {

// ---- that give what the word held ----

template <class Group, class T>
STARLING_HD T atomic_fetch(const Group& g, sym<T> x, int pe, where at = where::current()) {
  return g.atomic_fetch(x, pe, cuda::memory_order_relaxed, at);
}
template <class Group, std::integral T>
STARLING_HD T atomic_fetch_inc(const Group& g, sym<T> x, int pe, where at = where::current()) {
  return g.atomic_fetch_inc(x, pe, cuda::memory_order_relaxed, at);
}
template <class Group, class T>
STARLING_HD T atomic_fetch_add(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                               where at = where::current()) {
  return g.atomic_fetch_add(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, std::integral T>
STARLING_HD T atomic_fetch_and(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                               where at = where::current()) {
  return g.atomic_fetch_and(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, std::integral T>
STARLING_HD T atomic_fetch_or(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                              where at = where::current()) {
  return g.atomic_fetch_or(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, std::integral T>
STARLING_HD T atomic_fetch_xor(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                               where at = where::current()) {
  return g.atomic_fetch_xor(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, class T>
STARLING_HD T atomic_swap(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                          where at = where::current()) {
  return g.atomic_swap(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, class T>
STARLING_HD T atomic_compare_swap(const Group& g, sym<T> x, std::type_identity_t<T> expected,
                                  std::type_identity_t<T> value, int pe, where at = where::current()) {
  return g.atomic_compare_swap(x, expected, value, pe, cuda::memory_order_relaxed, at);
}

// ---- that give nothing ----

template <class Group, class T>
STARLING_HD void atomic_set(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                            where at = where::current()) {
  g.atomic_set(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, std::integral T>
STARLING_HD void atomic_inc(const Group& g, sym<T> x, int pe, where at = where::current()) {
  g.atomic_inc(x, pe, cuda::memory_order_relaxed, at);
}
template <class Group, class T>
STARLING_HD void atomic_add(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                            where at = where::current()) {
  g.atomic_add(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, std::integral T>
STARLING_HD void atomic_and(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                            where at = where::current()) {
  g.atomic_and(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, std::integral T>
STARLING_HD void atomic_or(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                           where at = where::current()) {
  g.atomic_or(x, value, pe, cuda::memory_order_relaxed, at);
}
template <class Group, std::integral T>
STARLING_HD void atomic_xor(const Group& g, sym<T> x, std::type_identity_t<T> value, int pe,
                            where at = where::current()) {
  g.atomic_xor(x, value, pe, cuda::memory_order_relaxed, at);
}

// ---- that give it at `fetch`, after quiet ----

template <class Group, class T>
STARLING_HD void atomic_fetch_nbi(const Group& g, T* fetch, sym<T> x, int pe, where at = where::current()) {
  g.atomic_fetch_nbi(fetch, x, pe, at);
}
template <class Group, std::integral T>
STARLING_HD void atomic_fetch_inc_nbi(const Group& g, T* fetch, sym<T> x, int pe, where at = where::current()) {
  g.atomic_fetch_inc_nbi(fetch, x, pe, at);
}
template <class Group, class T>
STARLING_HD void atomic_fetch_add_nbi(const Group& g, T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                      where at = where::current()) {
  g.atomic_fetch_add_nbi(fetch, x, value, pe, at);
}
template <class Group, std::integral T>
STARLING_HD void atomic_fetch_and_nbi(const Group& g, T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                      where at = where::current()) {
  g.atomic_fetch_and_nbi(fetch, x, value, pe, at);
}
template <class Group, std::integral T>
STARLING_HD void atomic_fetch_or_nbi(const Group& g, T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                     where at = where::current()) {
  g.atomic_fetch_or_nbi(fetch, x, value, pe, at);
}
template <class Group, std::integral T>
STARLING_HD void atomic_fetch_xor_nbi(const Group& g, T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                      where at = where::current()) {
  g.atomic_fetch_xor_nbi(fetch, x, value, pe, at);
}
template <class Group, class T>
STARLING_HD void atomic_swap_nbi(const Group& g, T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                 where at = where::current()) {
  g.atomic_swap_nbi(fetch, x, value, pe, at);
}
template <class Group, class T>
STARLING_HD void atomic_compare_swap_nbi(const Group& g, T* fetch, sym<T> x, std::type_identity_t<T> expected,
                                         std::type_identity_t<T> value, int pe, where at = where::current()) {
  g.atomic_compare_swap_nbi(fetch, x, expected, value, pe, at);
}

}  // namespace starling::shmem
