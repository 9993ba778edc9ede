// Waits for words of 4 and 8 bytes by OpenSHMEM's names, as free functions: the group that makes the call comes first.
// What each waits for, what it orders and how it ends is written in device/waits.hpp.
#pragma once

#include "starling/device/waits.hpp"

namespace starling::shmem {

template <class Group, waitable_word T>
STARLING_HD void wait_until(const Group& g, sym<T> x, compare how, std::type_identity_t<T> value, int from = any_pe,
                            where at = where::current()) {
  g.wait_until(x, how, value, from, at);
}
template <class Group, waitable_word T>
STARLING_HD wait_status wait_until_for(const Group& g, sym<T> x, compare how, std::type_identity_t<T> value,
                                       double seconds, int from = any_pe, where at = where::current()) {
  return g.wait_until_for(x, how, value, seconds, from, at);
}
template <class Group, waitable_word T>
STARLING_HD bool test(const Group& g, sym<T> x, compare how, std::type_identity_t<T> value,
                      where at = where::current()) {
  return g.test(x, how, value, at);
}
// The word, once it is no longer `absent`.
template <class Group, flag_word T>
STARLING_HD T take_value(const Group& g, sym<T> source, std::type_identity_t<T> absent, int from = any_pe,
                         where at = where::current()) {
  return g.take_value(source, absent, from, at);
}

// ---- all of n words ----

template <class Group, waitable_word T>
STARLING_HD void wait_until_all(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                                std::type_identity_t<T> value, int from = any_pe, where at = where::current()) {
  g.wait_until_all(first, n, status, how, value, from, at);
}
template <class Group, waitable_word T>
STARLING_HD wait_status wait_until_all_for(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                                           std::type_identity_t<T> value, double seconds, int from = any_pe,
                                           where at = where::current()) {
  return g.wait_until_all_for(first, n, status, how, value, seconds, from, at);
}
template <class Group, waitable_word T>
STARLING_HD void wait_until_all_vector(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                                       const std::type_identity_t<T>* values, int from = any_pe,
                                       where at = where::current()) {
  g.wait_until_all_vector(first, n, status, how, values, from, at);
}
template <class Group, waitable_word T>
STARLING_HD bool test_all(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                          std::type_identity_t<T> value, where at = where::current()) {
  return g.test_all(first, n, status, how, value, at);
}
template <class Group, waitable_word T>
STARLING_HD bool test_all_vector(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                                 const std::type_identity_t<T>* values, where at = where::current()) {
  return g.test_all_vector(first, n, status, how, values, at);
}

// ---- any of n words ----

template <class Group, waitable_word T>
STARLING_HD index_t wait_until_any(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                                   std::type_identity_t<T> value, int from = any_pe, where at = where::current()) {
  return g.wait_until_any(first, n, status, how, value, from, at);
}
template <class Group, waitable_word T>
STARLING_HD index_t wait_until_any_for(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                                       std::type_identity_t<T> value, double seconds, int from = any_pe,
                                       where at = where::current()) {
  return g.wait_until_any_for(first, n, status, how, value, seconds, from, at);
}
template <class Group, waitable_word T>
STARLING_HD index_t wait_until_any_vector(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                                          const std::type_identity_t<T>* values, int from = any_pe,
                                          where at = where::current()) {
  return g.wait_until_any_vector(first, n, status, how, values, from, at);
}
template <class Group, waitable_word T>
STARLING_HD index_t test_any(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                             std::type_identity_t<T> value, where at = where::current()) {
  return g.test_any(first, n, status, how, value, at);
}
template <class Group, waitable_word T>
STARLING_HD index_t test_any_vector(const Group& g, sym<T> first, index_t n, const int* status, compare how,
                                    const std::type_identity_t<T>* values, where at = where::current()) {
  return g.test_any_vector(first, n, status, how, values, at);
}

// ---- some of n words ----

template <class Group, waitable_word T>
STARLING_HD index_t wait_until_some(const Group& g, sym<T> first, index_t n, index_t* indices, const int* status,
                                    compare how, std::type_identity_t<T> value, int from = any_pe,
                                    where at = where::current()) {
  return g.wait_until_some(first, n, indices, status, how, value, from, at);
}
template <class Group, waitable_word T>
STARLING_HD index_t wait_until_some_for(const Group& g, sym<T> first, index_t n, index_t* indices, const int* status,
                                        compare how, std::type_identity_t<T> value, double seconds, int from = any_pe,
                                        where at = where::current()) {
  return g.wait_until_some_for(first, n, indices, status, how, value, seconds, from, at);
}
template <class Group, waitable_word T>
STARLING_HD index_t wait_until_some_vector(const Group& g, sym<T> first, index_t n, index_t* indices, const int* status,
                                           compare how, const std::type_identity_t<T>* values, int from = any_pe,
                                           where at = where::current()) {
  return g.wait_until_some_vector(first, n, indices, status, how, values, from, at);
}
template <class Group, waitable_word T>
STARLING_HD index_t test_some(const Group& g, sym<T> first, index_t n, index_t* indices, const int* status, compare how,
                              std::type_identity_t<T> value, where at = where::current()) {
  return g.test_some(first, n, indices, status, how, value, at);
}
template <class Group, waitable_word T>
STARLING_HD index_t test_some_vector(const Group& g, sym<T> first, index_t n, index_t* indices, const int* status,
                                     compare how, const std::type_identity_t<T>* values, where at = where::current()) {
  return g.test_some_vector(first, n, indices, status, how, values, at);
}

}  // namespace starling::shmem
