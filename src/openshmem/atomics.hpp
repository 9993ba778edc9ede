// Atomic operations on words of any PE. Each gives what the word held.
#pragma once

#include <atomic>
#include <type_traits>

#include "contexts.hpp"
#include "world.hpp"

namespace starling::openshmem {

template <class T>
std::atomic_ref<T> atomic_word(shmem_ctx_t ctx, const T* word, int pe, const char* what) {
  world& w = world::here();
  auto* there = reinterpret_cast<T*>(w.reach(word, sizeof(T), pe_of(ctx, pe), what));
  expect<argument_error>(reinterpret_cast<std::uintptr_t>(there) % sizeof(T) == 0, call(), ": ", what, " = ",
                         static_cast<const void*>(word), " is not a multiple of ", sizeof(T));
  return std::atomic_ref<T>(*there);
}

template <class T>
T atomic_fetch(shmem_ctx_t ctx, const T* word, int pe) {
  return atomic_word(ctx, word, pe, "source").load();
}

// The word, changed by f; those who wait for it look.
template <class T, class F>
T atomic_change(shmem_ctx_t ctx, T* word, int pe, const F& f) {
  auto there = atomic_word(ctx, word, pe, "dest");
  const T before = f(there);
  world& w = world::here();
  w.changed(w.reach(word, sizeof(T), pe_of(ctx, pe), "dest"));
  return before;
}

template <class T>
T atomic_swap(shmem_ctx_t ctx, T* word, T value, int pe) {
  return atomic_change(ctx, word, pe, [&](auto& a) { return a.exchange(value); });
}

template <class T>
T atomic_compare_swap(shmem_ctx_t ctx, T* word, T expected, T value, int pe) {
  return atomic_change(ctx, word, pe, [&](auto& a) {
    T seen = expected;
    (void)a.compare_exchange_strong(seen, value);
    return seen;
  });
}

template <class T>
T atomic_add(shmem_ctx_t ctx, T* word, T value, int pe) {
  return atomic_change(ctx, word, pe, [&](auto& a) { return a.fetch_add(value); });
}

template <class T>
T atomic_and(shmem_ctx_t ctx, T* word, T value, int pe) {
  return atomic_change(ctx, word, pe, [&](auto& a) { return a.fetch_and(value); });
}

template <class T>
T atomic_or(shmem_ctx_t ctx, T* word, T value, int pe) {
  return atomic_change(ctx, word, pe, [&](auto& a) { return a.fetch_or(value); });
}

template <class T>
T atomic_xor(shmem_ctx_t ctx, T* word, T value, int pe) {
  return atomic_change(ctx, word, pe, [&](auto& a) { return a.fetch_xor(value); });
}

}  // namespace starling::openshmem
