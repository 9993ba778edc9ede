// Atomic operations on symmetric memory; names and meanings are OpenSHMEM 1.5's. Mixin for block, warp and thread,
// beside communication: every call is a collective of the group that does one operation on the copy of `pe` and gives
// its result to every thread. Relaxed: order with fence().
#pragma once

#include "starling/device/communication.hpp"

namespace starling {

template <class Self>
class atomics {
 public:
  // ---- atomics on the copy of `pe`: one operation per call, its result to every thread; relaxed, so order with fence
  // ----

  template <class T>
  STARLING_HD T atomic_fetch(sym<T> x, int pe, where at = where::current()) const {
    return atomic(x, pe, at, [](auto word) { return word.load(cuda::memory_order_relaxed); });
  }
  template <class T>
  STARLING_HD void atomic_set(sym<T> x, std::type_identity_t<T> value, int pe, where at = where::current()) const {
    atomic(x, pe, at, [=](auto word) {
      word.store(value, cuda::memory_order_relaxed);
      return value;
    });
  }
  template <class T>
  STARLING_HD T atomic_fetch_add(sym<T> x, std::type_identity_t<T> value, int pe, where at = where::current()) const {
    return atomic(x, pe, at, [=](auto word) { return word.fetch_add(value, cuda::memory_order_relaxed); });
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_and(sym<T> x, std::type_identity_t<T> value, int pe, where at = where::current()) const {
    return atomic(x, pe, at, [=](auto word) { return word.fetch_and(value, cuda::memory_order_relaxed); });
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_or(sym<T> x, std::type_identity_t<T> value, int pe, where at = where::current()) const {
    return atomic(x, pe, at, [=](auto word) { return word.fetch_or(value, cuda::memory_order_relaxed); });
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_xor(sym<T> x, std::type_identity_t<T> value, int pe, where at = where::current()) const {
    return atomic(x, pe, at, [=](auto word) { return word.fetch_xor(value, cuda::memory_order_relaxed); });
  }
  template <class T>
  STARLING_HD T atomic_swap(sym<T> x, std::type_identity_t<T> value, int pe, where at = where::current()) const {
    return atomic(x, pe, at, [=](auto word) { return word.exchange(value, cuda::memory_order_relaxed); });
  }
  // Returns the old value; stores `value` if that was `expected`.
  template <class T>
  STARLING_HD T atomic_compare_swap(sym<T> x, std::type_identity_t<T> expected, std::type_identity_t<T> value, int pe,
                                    where at = where::current()) const {
    return atomic(x, pe, at, [=](auto word) {
      T old = expected;
      word.compare_exchange_strong(old, value, cuda::memory_order_relaxed, cuda::memory_order_relaxed);
      return old;
    });
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  template <class T, class Apply>
  STARLING_HD T atomic(sym<T> x, int pe, where at, Apply apply) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 byte types");
    self().check_peer(pe, operation::atomic, at);
    const trace_span span(self(), trace_operation::atomic, pe, sizeof(T));
    T result{};
    if constexpr (target::on_gpu) {
      if (self().member() == 0) result = apply(gpu::system_atomic(*x.on(pe)));
      result = self().first(result);
    } else {
      struct call {
        T* word;
        Apply* apply;
        T result;
      } c{x.on(pe), &apply, T{}};
      self().port().atomic(
          c.word, sizeof(T), pe, at,
          [](void* context) {
            auto* one = static_cast<call*>(context);
            one->result = (*one->apply)(gpu::system_atomic(*one->word));
          },
          &c);
      result = c.result;
    }
    return result;
  }
};

}  // namespace starling
