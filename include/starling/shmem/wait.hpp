// Waits for words of 4 and 8 bytes by OpenSHMEM's names, as free functions: the group that makes the call comes first.
// What each waits for, what it orders and how it ends is written in device/waits.hpp.
#pragma once

#include "starling/device/waits.hpp"
#include "starling/shmem/address.hpp"

namespace starling::shmem {

template <class Address>
concept word_address = symmetric_address<Address> && waitable_word<element_of<Address>>;
template <class Address>
concept flag_address = symmetric_address<Address> && flag_word<element_of<Address>>;

template <class Group, word_address Word>
STARLING_HD void wait_until(const Group& g, Word x, compare how, element_of<Word> value, int from = any_pe,
                            where at = where::current()) {
  g.wait_until(symmetric(g, x, at), how, value, from, at);
}
template <class Group, word_address Word>
STARLING_HD wait_status wait_until_for(const Group& g, Word x, compare how, element_of<Word> value, double seconds,
                                       int from = any_pe, where at = where::current()) {
  return g.wait_until_for(symmetric(g, x, at), how, value, seconds, from, at);
}
template <class Group, word_address Word>
STARLING_HD bool test(const Group& g, Word x, compare how, element_of<Word> value, where at = where::current()) {
  return g.test(symmetric(g, x, at), how, value, at);
}
// The word, once it is no longer `absent`.
template <class Group, flag_address Word>
STARLING_HD element_of<Word> take_value(const Group& g, Word source, element_of<Word> absent, int from = any_pe,
                                        where at = where::current()) {
  return g.take_value(symmetric(g, source, at), absent, from, at);
}

// ---- all of n words ----

template <class Group, word_address Word>
STARLING_HD void wait_until_all(const Group& g, Word first, index_t n, const int* status, compare how,
                                element_of<Word> value, int from = any_pe, where at = where::current()) {
  g.wait_until_all(symmetric(g, first, at), n, status, how, value, from, at);
}
template <class Group, word_address Word>
STARLING_HD wait_status wait_until_all_for(const Group& g, Word first, index_t n, const int* status, compare how,
                                           element_of<Word> value, double seconds, int from = any_pe,
                                           where at = where::current()) {
  return g.wait_until_all_for(symmetric(g, first, at), n, status, how, value, seconds, from, at);
}
template <class Group, word_address Word>
STARLING_HD void wait_until_all_vector(const Group& g, Word first, index_t n, const int* status, compare how,
                                       const element_of<Word>* values, int from = any_pe, where at = where::current()) {
  g.wait_until_all_vector(symmetric(g, first, at), n, status, how, values, from, at);
}
template <class Group, word_address Word>
STARLING_HD bool test_all(const Group& g, Word first, index_t n, const int* status, compare how, element_of<Word> value,
                          where at = where::current()) {
  return g.test_all(symmetric(g, first, at), n, status, how, value, at);
}
template <class Group, word_address Word>
STARLING_HD bool test_all_vector(const Group& g, Word first, index_t n, const int* status, compare how,
                                 const element_of<Word>* values, where at = where::current()) {
  return g.test_all_vector(symmetric(g, first, at), n, status, how, values, at);
}

// ---- any of n words ----

template <class Group, word_address Word>
STARLING_HD index_t wait_until_any(const Group& g, Word first, index_t n, const int* status, compare how,
                                   element_of<Word> value, int from = any_pe, where at = where::current()) {
  return g.wait_until_any(symmetric(g, first, at), n, status, how, value, from, at);
}
template <class Group, word_address Word>
STARLING_HD index_t wait_until_any_for(const Group& g, Word first, index_t n, const int* status, compare how,
                                       element_of<Word> value, double seconds, int from = any_pe,
                                       where at = where::current()) {
  return g.wait_until_any_for(symmetric(g, first, at), n, status, how, value, seconds, from, at);
}
template <class Group, word_address Word>
STARLING_HD index_t wait_until_any_vector(const Group& g, Word first, index_t n, const int* status, compare how,
                                          const element_of<Word>* values, int from = any_pe,
                                          where at = where::current()) {
  return g.wait_until_any_vector(symmetric(g, first, at), n, status, how, values, from, at);
}
template <class Group, word_address Word>
STARLING_HD index_t test_any(const Group& g, Word first, index_t n, const int* status, compare how,
                             element_of<Word> value, where at = where::current()) {
  return g.test_any(symmetric(g, first, at), n, status, how, value, at);
}
template <class Group, word_address Word>
STARLING_HD index_t test_any_vector(const Group& g, Word first, index_t n, const int* status, compare how,
                                    const element_of<Word>* values, where at = where::current()) {
  return g.test_any_vector(symmetric(g, first, at), n, status, how, values, at);
}

// ---- some of n words ----

template <class Group, word_address Word>
STARLING_HD index_t wait_until_some(const Group& g, Word first, index_t n, index_t* indices, const int* status,
                                    compare how, element_of<Word> value, int from = any_pe,
                                    where at = where::current()) {
  return g.wait_until_some(symmetric(g, first, at), n, indices, status, how, value, from, at);
}
template <class Group, word_address Word>
STARLING_HD index_t wait_until_some_for(const Group& g, Word first, index_t n, index_t* indices, const int* status,
                                        compare how, element_of<Word> value, double seconds, int from = any_pe,
                                        where at = where::current()) {
  return g.wait_until_some_for(symmetric(g, first, at), n, indices, status, how, value, seconds, from, at);
}
template <class Group, word_address Word>
STARLING_HD index_t wait_until_some_vector(const Group& g, Word first, index_t n, index_t* indices, const int* status,
                                           compare how, const element_of<Word>* values, int from = any_pe,
                                           where at = where::current()) {
  return g.wait_until_some_vector(symmetric(g, first, at), n, indices, status, how, values, from, at);
}
template <class Group, word_address Word>
STARLING_HD index_t test_some(const Group& g, Word first, index_t n, index_t* indices, const int* status, compare how,
                              element_of<Word> value, where at = where::current()) {
  return g.test_some(symmetric(g, first, at), n, indices, status, how, value, at);
}
template <class Group, word_address Word>
STARLING_HD index_t test_some_vector(const Group& g, Word first, index_t n, index_t* indices, const int* status,
                                     compare how, const element_of<Word>* values, where at = where::current()) {
  return g.test_some_vector(symmetric(g, first, at), n, indices, status, how, values, at);
}

}  // namespace starling::shmem
