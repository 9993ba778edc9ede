// Atomic operations on words of any PE. Each gives what the word held; `unread` ones, of PEs of other hosts, give 0 and
// are done when finish() returns.
#pragma once

#include <atomic>
#include <cstring>
#include <type_traits>

#include "contexts.hpp"
#include "world.hpp"

namespace starling::openshmem {

inline constexpr bool unread = false;

template <class T>
std::uint64_t bits_of(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T value_of_bits(std::uint64_t bits) {
  T value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A word of a PE, by the address that this process has for it if the PE is near.
template <class T>
struct word_of_pe {
  word_of_pe(shmem_ctx_t ctx, const T* word, int pe_of_ctx, const char* what)
      : w(world::here()), pe(pe_of(ctx, pe_of_ctx)) {
    w.check_pe(pe);
    const std::size_t at = w.place(word, sizeof(T), what);
    expect<argument_error>(at % sizeof(T) == 0, call(), ": ", what, " = ", static_cast<const void*>(word),
                           " is not a multiple of ", sizeof(T));
    address = reinterpret_cast<T*>(w.on(pe, at));
  }

  T load() const {
    if (w.is_near(pe)) return std::atomic_ref<T>(*address).load();
    return value_of_bits<T>(w.far().change(address, {word_change::fetch_or, sizeof(T), 0}));
  }

  T compare_swap(T expected, T value) const {
    return change<true>({word_change::compare_swap, 0, bits_of(value), bits_of(expected)}, [&](auto& a) {
      T seen = expected;
      (void)a.compare_exchange_strong(seen, value);
      return seen;
    });
  }

  // `o` says what f does.
  template <bool Read, class F>
  T change(word_order o, const F& f) const {
    o.bytes = sizeof(T);
    if (w.is_near(pe)) {
      std::atomic_ref<T> here(*address);
      const T before = f(here);
      w.changed(address);
      return before;
    }
    if constexpr (Read) return value_of_bits<T>(w.far().change(address, o));
    w.far().change_unread(address, o, pe);
    return T{};
  }

  world& w;
  int pe;
  T* address;
};

template <class T>
T atomic_fetch(shmem_ctx_t ctx, const T* word, int pe) {
  return word_of_pe<T>(ctx, word, pe, "source").load();
}

template <class T, bool Read = true>
T atomic_swap(shmem_ctx_t ctx, T* word, T value, int pe) {
  return word_of_pe<T>(ctx, word, pe, "dest")
      .template change<Read>({word_change::swap, 0, bits_of(value)}, [&](auto& a) { return a.exchange(value); });
}

template <class T>
T atomic_compare_swap(shmem_ctx_t ctx, T* word, T expected, T value, int pe) {
  return word_of_pe<T>(ctx, word, pe, "dest").compare_swap(expected, value);
}

template <class T, bool Read = true>
T atomic_add(shmem_ctx_t ctx, T* word, T value, int pe) {
  return word_of_pe<T>(ctx, word, pe, "dest")
      .template change<Read>({word_change::fetch_add, 0, bits_of(value)}, [&](auto& a) { return a.fetch_add(value); });
}

template <class T, bool Read = true>
T atomic_and(shmem_ctx_t ctx, T* word, T value, int pe) {
  return word_of_pe<T>(ctx, word, pe, "dest")
      .template change<Read>({word_change::fetch_and, 0, bits_of(value)}, [&](auto& a) { return a.fetch_and(value); });
}

template <class T, bool Read = true>
T atomic_or(shmem_ctx_t ctx, T* word, T value, int pe) {
  return word_of_pe<T>(ctx, word, pe, "dest")
      .template change<Read>({word_change::fetch_or, 0, bits_of(value)}, [&](auto& a) { return a.fetch_or(value); });
}

template <class T, bool Read = true>
T atomic_xor(shmem_ctx_t ctx, T* word, T value, int pe) {
  return word_of_pe<T>(ctx, word, pe, "dest")
      .template change<Read>({word_change::fetch_xor, 0, bits_of(value)}, [&](auto& a) { return a.fetch_xor(value); });
}

}  // namespace starling::openshmem
