// Atomic operations on symmetric memory; names and meanings are OpenSHMEM 1.5's. Mixin for block, warp and thread,
// beside communication: every call is a collective of the group that does one operation on the copy of `pe` and gives
// its result to every thread.
//
// Memory order. By default relaxed: the operation is atomic and orders nothing else, with or without fence() around it.
// With cuda::memory_order_release the call first completes the group's earlier puts, as quiet() does; whoever reads
// what it stored by a call with cuda::memory_order_acquire then sees them, and whatever else the group wrote or had
// learnt of. memory_order_acq_rel is both. A compare_swap that stores nothing releases nothing. So a lock is taken by
// atomic_compare_swap with acquire and given back by atomic_set with release.
#pragma once

#include "starling/device/communication.hpp"

namespace starling {

template <class Self>
class atomics {
 public:
  template <class T>
  STARLING_HD T atomic_fetch(sym<T> x, int pe, cuda::memory_order order = cuda::memory_order_relaxed,
                             where at = where::current()) const {
    return atomic(x, pe, order, at,
                  [](auto word, cuda::memory_order o) { return outcome<T>{word.load(acquiring(o)), false}; });
  }
  template <class T>
  STARLING_HD void atomic_set(sym<T> x, std::type_identity_t<T> value, int pe,
                              cuda::memory_order order = cuda::memory_order_relaxed,
                              where at = where::current()) const {
    atomic(x, pe, order, at, [=](auto word, cuda::memory_order o) {
      word.store(value, releases(o) ? cuda::memory_order_release : cuda::memory_order_relaxed);
      return outcome<T>{value, true};
    });
  }
  template <class T>
  STARLING_HD T atomic_fetch_add(sym<T> x, std::type_identity_t<T> value, int pe,
                                 cuda::memory_order order = cuda::memory_order_relaxed,
                                 where at = where::current()) const {
    return atomic(x, pe, order, at,
                  [=](auto word, cuda::memory_order o) { return outcome<T>{word.fetch_add(value, o), true}; });
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_and(sym<T> x, std::type_identity_t<T> value, int pe,
                                 cuda::memory_order order = cuda::memory_order_relaxed,
                                 where at = where::current()) const {
    return atomic(x, pe, order, at,
                  [=](auto word, cuda::memory_order o) { return outcome<T>{word.fetch_and(value, o), true}; });
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_or(sym<T> x, std::type_identity_t<T> value, int pe,
                                cuda::memory_order order = cuda::memory_order_relaxed,
                                where at = where::current()) const {
    return atomic(x, pe, order, at,
                  [=](auto word, cuda::memory_order o) { return outcome<T>{word.fetch_or(value, o), true}; });
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_xor(sym<T> x, std::type_identity_t<T> value, int pe,
                                 cuda::memory_order order = cuda::memory_order_relaxed,
                                 where at = where::current()) const {
    return atomic(x, pe, order, at,
                  [=](auto word, cuda::memory_order o) { return outcome<T>{word.fetch_xor(value, o), true}; });
  }
  template <class T>
  STARLING_HD T atomic_swap(sym<T> x, std::type_identity_t<T> value, int pe,
                            cuda::memory_order order = cuda::memory_order_relaxed, where at = where::current()) const {
    return atomic(x, pe, order, at,
                  [=](auto word, cuda::memory_order o) { return outcome<T>{word.exchange(value, o), true}; });
  }
  // Returns the old value; stores `value` if that was `expected`.
  template <class T>
  STARLING_HD T atomic_compare_swap(sym<T> x, std::type_identity_t<T> expected, std::type_identity_t<T> value, int pe,
                                    cuda::memory_order order = cuda::memory_order_relaxed,
                                    where at = where::current()) const {
    return atomic(x, pe, order, at, [=](auto word, cuda::memory_order o) {
      T old = expected;
      const bool stored = word.compare_exchange_strong(old, value, o, acquiring(o));
      return outcome<T>{old, stored};
    });
  }

 private:
  template <class T>
  struct outcome {
    T result;
    bool stored;
  };

  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  // What is left of an order for an operation that only loads.
  STARLING_HD static constexpr cuda::memory_order acquiring(cuda::memory_order o) {
    return acquires(o) ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
  }

  template <class T, class Apply>
  STARLING_HD T atomic(sym<T> x, int pe, cuda::memory_order order, where at, Apply apply) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 byte types");
    self().check_peer(pe, operation::atomic, at);
    const trace_span span(self(), trace_operation::atomic, pe, sizeof(T));
    T result{};
    if constexpr (target::on_gpu) {
      if (releases(order)) self().sync();  // the leader's fence then counts for what all threads have written
      if (self().member() == 0) {
        if (releases(order)) target::fence_system();
        result = apply(gpu::system_atomic(*x.on(pe)), cuda::memory_order_relaxed).result;
        if (acquires(order)) target::fence_system();
      }
      result = self().first(result);
    } else {
      struct call {
        T* word;
        Apply* apply;
        cuda::memory_order order;
        T result;
      } c{x.on(pe), &apply, order, T{}};
      const auto do_it = [](void* argument) {
        auto* one = static_cast<call*>(argument);
        const outcome<T> o = (*one->apply)(gpu::system_atomic(*one->word), one->order);
        one->result = o.result;
        return o.stored;
      };
      self().port().atomic({c.word, sizeof(T), pe, order, at, do_it, &c, self().context_number()});
      result = c.result;
    }
    return result;
  }
};

}  // namespace starling
