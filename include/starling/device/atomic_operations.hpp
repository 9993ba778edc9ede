// The operations that atomics do to one word: each is given the word and the memory order, and says what the word held
// and whether it has stored. bits(): of its arguments, to be compared among the threads of a block.
#pragma once

#include <cuda/atomic>

#include <cstring>
#include <type_traits>

#include "starling/device/host_port.hpp"
#include "starling/device/target.hpp"

namespace starling::atomic_operations {

template <class T>
struct outcome {
  T result;
  bool stored;
};

// What is left of an order for an operation that only loads, or only stores.
STARLING_HD constexpr cuda::memory_order acquiring(cuda::memory_order o) {
  return acquires(o) ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
}
STARLING_HD constexpr cuda::memory_order releasing(cuda::memory_order o) {
  return releases(o) ? cuda::memory_order_release : cuda::memory_order_relaxed;
}

template <class T>
struct load {
  static constexpr by_card card = by_card::load;
  std::uint64_t bits() const { return 0; }
  STARLING_HD T changed(T old) const { return old; }
  template <class Word>
  STARLING_HD outcome<T> operator()(Word word, cuda::memory_order o) const {
    return {word.load(acquiring(o)), false};
  }
};

template <class T>
struct store {
  static constexpr by_card card = by_card::other;
  T value;
  std::uint64_t bits() const { return argument_bits(value); }
  STARLING_HD T changed(T) const { return value; }
  template <class Word>
  STARLING_HD outcome<T> operator()(Word word, cuda::memory_order o) const {
    word.store(value, releasing(o));
    return {value, true};
  }
};

template <class T>
struct add {
  static constexpr by_card card = std::is_integral_v<T> ? by_card::add : by_card::other;
  T value;
  std::uint64_t bits() const { return argument_bits(value); }
  STARLING_HD T changed(T old) const { return static_cast<T>(old + value); }
  template <class Word>
  STARLING_HD outcome<T> operator()(Word word, cuda::memory_order o) const {
    return {word.fetch_add(value, o), true};
  }
};

template <class T>
struct bit_and {
  static constexpr by_card card = by_card::other;
  T value;
  std::uint64_t bits() const { return argument_bits(value); }
  STARLING_HD T changed(T old) const { return static_cast<T>(old & value); }
  template <class Word>
  STARLING_HD outcome<T> operator()(Word word, cuda::memory_order o) const {
    return {word.fetch_and(value, o), true};
  }
};

template <class T>
struct bit_or {
  static constexpr by_card card = by_card::other;
  T value;
  std::uint64_t bits() const { return argument_bits(value); }
  STARLING_HD T changed(T old) const { return static_cast<T>(old | value); }
  template <class Word>
  STARLING_HD outcome<T> operator()(Word word, cuda::memory_order o) const {
    return {word.fetch_or(value, o), true};
  }
};

template <class T>
struct bit_xor {
  static constexpr by_card card = by_card::other;
  T value;
  std::uint64_t bits() const { return argument_bits(value); }
  STARLING_HD T changed(T old) const { return static_cast<T>(old ^ value); }
  template <class Word>
  STARLING_HD outcome<T> operator()(Word word, cuda::memory_order o) const {
    return {word.fetch_xor(value, o), true};
  }
};

template <class T>
struct swap {
  static constexpr by_card card = by_card::other;
  T value;
  std::uint64_t bits() const { return argument_bits(value); }
  STARLING_HD T changed(T) const { return value; }
  template <class Word>
  STARLING_HD outcome<T> operator()(Word word, cuda::memory_order o) const {
    return {word.exchange(value, o), true};
  }
};

// Stores if the word holds what is expected.
template <class T>
struct compare_swap {
  static constexpr by_card card = by_card::compare_swap;
  T expected;
  T value;
  std::uint64_t bits() const { return argument_bits(expected) ^ (argument_bits(value) << 1); }
  STARLING_HD T changed(T old) const { return holds(old) ? value : old; }
  STARLING_HD bool holds(T old) const { return memcmp(&old, &expected, sizeof(T)) == 0; }
  template <class Word>
  STARLING_HD outcome<T> operator()(Word word, cuda::memory_order o) const {
    T old = expected;
    const bool stored = word.compare_exchange_strong(old, value, o, acquiring(o));
    return {old, stored};
  }
};

}  // namespace starling::atomic_operations
