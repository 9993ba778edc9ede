// Waiting for words of this PE's own memory, and testing them. They are compared as their type has it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "world.hpp"

namespace starling::openshmem {

// Throws argument_error for a comparison that does not exist.
void check_comparison(int cmp);
std::string name_of_comparison(int cmp);
// Where the next search begins, so that every word that holds is found some time.
std::size_t next_turn();

template <class T>
bool holds(T seen, int cmp, T wanted) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return seen == wanted;
    case SHMEM_CMP_NE:
      return seen != wanted;
    case SHMEM_CMP_GT:
      return seen > wanted;
    case SHMEM_CMP_LE:
      return seen <= wanted;
    case SHMEM_CMP_LT:
      return seen < wanted;
    default:
      return seen >= wanted;
  }
}

// Words that are waited for together: those whose status is null or 0. Each is compared with a value of its own, or all
// with the same.
template <class T>
class several {
 public:
  several(T* words, std::size_t n, const int* status, int cmp, T value) : several(words, n, status, cmp, nullptr) {
    value_ = value;
  }
  several(T* words, std::size_t n, const int* status, int cmp, T* values)
      : n_(n), status_(status), cmp_(cmp), values_(values) {
    check_comparison(cmp);
    expect<range_error>(n <= SIZE_MAX / 2 / sizeof(T), call(), ": nelems = ", n, "; there is no memory for so many");
    words_ = reinterpret_cast<T*>(world::here().own(words, n * sizeof(T), "ivars"));
  }

  std::size_t size() const { return n_; }
  bool counts(std::size_t i) const { return status_ == nullptr || status_[i] == 0; }
  bool holds(std::size_t i) const { return openshmem::holds(seen(i), cmp_, wanted(i)); }
  bool none() const {
    for (std::size_t i = 0; i < n_; ++i)
      if (counts(i)) return false;
    return true;
  }
  const T* word(std::size_t i) const { return words_ + i; }
  std::string text(std::size_t i) const {
    return message("word ", i, " is ", +seen(i), ", did not become ", name_of_comparison(cmp_), " ", +wanted(i));
  }

 private:
  T seen(std::size_t i) const { return std::atomic_ref<T>(words_[i]).load(); }
  T wanted(std::size_t i) const { return values_ != nullptr ? values_[i] : value_; }

  T* words_ = nullptr;
  std::size_t n_;
  const int* status_;
  int cmp_;
  T* values_;
  T value_{};
};

template <class T>
T wait_until(T* word, int cmp, T value) {
  check_comparison(cmp);
  world& w = world::here();
  auto* there = reinterpret_cast<T*>(w.own(word, sizeof(T), "ivar"));
  std::atomic_ref<T> a(*there);
  T seen = a.load();
  const auto ready = [&] {
    seen = a.load();
    return holds(seen, cmp, value);
  };
  if (!ready())
    w.wait_for_value(there, ready, [&] {
      return message("the word at ", static_cast<const void*>(word), " is ", +seen, ", did not become ",
                     name_of_comparison(cmp), " ", +value);
    });
  return seen;
}

template <class T>
int test(T* word, int cmp, T value) {
  check_comparison(cmp);
  world& w = world::here();
  auto* there = reinterpret_cast<T*>(w.own(word, sizeof(T), "ivar"));
  if (holds(std::atomic_ref<T>(*there).load(), cmp, value)) return 1;
  w.tested_in_vain();
  return 0;
}

template <class T>
int test_all(const several<T>& s) {
  for (std::size_t i = 0; i < s.size(); ++i)
    if (s.counts(i) && !s.holds(i)) {
      world::here().tested_in_vain();
      return 0;
    }
  return 1;
}

template <class T>
std::size_t first_that_holds(const several<T>& s) {
  if (s.size() == 0) return SIZE_MAX;
  const std::size_t turn = next_turn() % s.size();
  for (std::size_t k = 0; k < s.size(); ++k) {
    const std::size_t i = (turn + k) % s.size();
    if (s.counts(i) && s.holds(i)) return i;
  }
  return SIZE_MAX;
}

template <class T>
std::size_t those_that_hold(const several<T>& s, std::size_t* indices) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < s.size(); ++i)
    if (s.counts(i) && s.holds(i)) indices[n++] = i;
  return n;
}

template <class T>
std::size_t test_any(const several<T>& s) {
  const std::size_t found = first_that_holds(s);
  if (found == SIZE_MAX) world::here().tested_in_vain();
  return found;
}

template <class T>
std::size_t test_some(const several<T>& s, std::size_t* indices) {
  const std::size_t n = those_that_hold(s, indices);
  if (n == 0) world::here().tested_in_vain();
  return n;
}

template <class T>
void wait_until_all(const several<T>& s) {
  for (std::size_t i = 0; i < s.size(); ++i)
    if (s.counts(i) && !s.holds(i))
      world::here().wait_for_value(s.word(i), [&] { return s.holds(i); }, [&] { return s.text(i); });
}

template <class T, class Ready>
void wait_for_several(const several<T>& s, const Ready& ready) {
  if (!ready()) world::here().wait_for_value(nullptr, ready, [&] { return "no word changed as wanted; " + s.text(0); });
}

template <class T>
std::size_t wait_until_any(const several<T>& s) {
  std::size_t found = SIZE_MAX;
  if (!s.none()) wait_for_several(s, [&] { return (found = first_that_holds(s)) != SIZE_MAX; });
  return found;
}

// Words may change back after the look that found them.
template <class T>
std::size_t wait_until_some(const several<T>& s, std::size_t* indices) {
  std::size_t n = 0;
  if (!s.none()) wait_for_several(s, [&] { return (n = those_that_hold(s, indices)) > 0; });
  return n;
}

}  // namespace starling::openshmem
