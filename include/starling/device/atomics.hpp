// Atomic operations on symmetric memory; names and meanings are OpenSHMEM 1.5's. Mixin for block, warp and thread,
// beside communication: every call is a collective of the group that does one operation on the copy of `pe`.
//
// Calls named fetch, swap and compare_swap give what the word held to every thread. Those that give nothing (atomic_add
// ...) do not wait for the group's threads; atomic_set does. Those named _nbi write what the word held to `fetch`,
// memory of the own PE that is not to be touched before quiet(); they are done at any time until then.
//
// Memory order. By default relaxed: the operation is atomic and orders nothing else, with or without fence() around it.
// With cuda::memory_order_release the call first completes the group's earlier puts, as quiet() does; whoever reads
// what it stored by a call with cuda::memory_order_acquire then sees them, and whatever else the group wrote or had
// learnt of. memory_order_acq_rel is both. A compare_swap that stores nothing releases nothing. So a lock is taken by
// atomic_compare_swap with acquire and given back by atomic_set with release. Calls named _nbi are relaxed.
#pragma once

#include "starling/device/atomic_operations.hpp"
#include "starling/device/communication.hpp"

namespace starling {

template <class Self>
class atomics {
 public:
  // ---- that give what the word held ----

  template <class T>
  STARLING_HD T atomic_fetch(sym<T> x, int pe, cuda::memory_order order = cuda::memory_order_relaxed,
                             where at = where::current()) const {
    return fetched(x, pe, order, at, atomic_operations::load<T>{});
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_inc(sym<T> x, int pe, cuda::memory_order order = cuda::memory_order_relaxed,
                                 where at = where::current()) const {
    return fetched(x, pe, order, at, atomic_operations::add<T>{T{1}});
  }
  template <class T>
  STARLING_HD T atomic_fetch_add(sym<T> x, std::type_identity_t<T> value, int pe,
                                 cuda::memory_order order = cuda::memory_order_relaxed,
                                 where at = where::current()) const {
    return fetched(x, pe, order, at, atomic_operations::add<T>{value});
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_and(sym<T> x, std::type_identity_t<T> value, int pe,
                                 cuda::memory_order order = cuda::memory_order_relaxed,
                                 where at = where::current()) const {
    return fetched(x, pe, order, at, atomic_operations::bit_and<T>{value});
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_or(sym<T> x, std::type_identity_t<T> value, int pe,
                                cuda::memory_order order = cuda::memory_order_relaxed,
                                where at = where::current()) const {
    return fetched(x, pe, order, at, atomic_operations::bit_or<T>{value});
  }
  template <std::integral T>
  STARLING_HD T atomic_fetch_xor(sym<T> x, std::type_identity_t<T> value, int pe,
                                 cuda::memory_order order = cuda::memory_order_relaxed,
                                 where at = where::current()) const {
    return fetched(x, pe, order, at, atomic_operations::bit_xor<T>{value});
  }
  template <class T>
  STARLING_HD T atomic_swap(sym<T> x, std::type_identity_t<T> value, int pe,
                            cuda::memory_order order = cuda::memory_order_relaxed, where at = where::current()) const {
    return fetched(x, pe, order, at, atomic_operations::swap<T>{value});
  }
  // Returns the old value; stores `value` if that was `expected`.
  template <class T>
  STARLING_HD T atomic_compare_swap(sym<T> x, std::type_identity_t<T> expected, std::type_identity_t<T> value, int pe,
                                    cuda::memory_order order = cuda::memory_order_relaxed,
                                    where at = where::current()) const {
    return fetched(x, pe, order, at, atomic_operations::compare_swap<T>{expected, value});
  }

  // ---- that give nothing ----

  template <class T>
  STARLING_HD void atomic_set(sym<T> x, std::type_identity_t<T> value, int pe,
                              cuda::memory_order order = cuda::memory_order_relaxed,
                              where at = where::current()) const {
    (void)fetched(x, pe, order, at, atomic_operations::store<T>{value});
  }
  template <std::integral T>
  STARLING_HD void atomic_inc(sym<T> x, int pe, cuda::memory_order order = cuda::memory_order_relaxed,
                              where at = where::current()) const {
    done(x, pe, order, at, atomic_operations::add<T>{T{1}});
  }
  template <class T>
  STARLING_HD void atomic_add(sym<T> x, std::type_identity_t<T> value, int pe,
                              cuda::memory_order order = cuda::memory_order_relaxed,
                              where at = where::current()) const {
    done(x, pe, order, at, atomic_operations::add<T>{value});
  }
  template <std::integral T>
  STARLING_HD void atomic_and(sym<T> x, std::type_identity_t<T> value, int pe,
                              cuda::memory_order order = cuda::memory_order_relaxed,
                              where at = where::current()) const {
    done(x, pe, order, at, atomic_operations::bit_and<T>{value});
  }
  template <std::integral T>
  STARLING_HD void atomic_or(sym<T> x, std::type_identity_t<T> value, int pe,
                             cuda::memory_order order = cuda::memory_order_relaxed, where at = where::current()) const {
    done(x, pe, order, at, atomic_operations::bit_or<T>{value});
  }
  template <std::integral T>
  STARLING_HD void atomic_xor(sym<T> x, std::type_identity_t<T> value, int pe,
                              cuda::memory_order order = cuda::memory_order_relaxed,
                              where at = where::current()) const {
    done(x, pe, order, at, atomic_operations::bit_xor<T>{value});
  }

  // ---- that give what the word held later ----

  template <class T>
  STARLING_HD void atomic_fetch_nbi(T* fetch, sym<T> x, int pe, where at = where::current()) const {
    fetch_later(fetch, x, pe, at, atomic_operations::load<T>{});
  }
  template <std::integral T>
  STARLING_HD void atomic_fetch_inc_nbi(T* fetch, sym<T> x, int pe, where at = where::current()) const {
    fetch_later(fetch, x, pe, at, atomic_operations::add<T>{T{1}});
  }
  template <class T>
  STARLING_HD void atomic_fetch_add_nbi(T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                        where at = where::current()) const {
    fetch_later(fetch, x, pe, at, atomic_operations::add<T>{value});
  }
  template <std::integral T>
  STARLING_HD void atomic_fetch_and_nbi(T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                        where at = where::current()) const {
    fetch_later(fetch, x, pe, at, atomic_operations::bit_and<T>{value});
  }
  template <std::integral T>
  STARLING_HD void atomic_fetch_or_nbi(T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                       where at = where::current()) const {
    fetch_later(fetch, x, pe, at, atomic_operations::bit_or<T>{value});
  }
  template <std::integral T>
  STARLING_HD void atomic_fetch_xor_nbi(T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                        where at = where::current()) const {
    fetch_later(fetch, x, pe, at, atomic_operations::bit_xor<T>{value});
  }
  template <class T>
  STARLING_HD void atomic_swap_nbi(T* fetch, sym<T> x, std::type_identity_t<T> value, int pe,
                                   where at = where::current()) const {
    fetch_later(fetch, x, pe, at, atomic_operations::swap<T>{value});
  }
  template <class T>
  STARLING_HD void atomic_compare_swap_nbi(T* fetch, sym<T> x, std::type_identity_t<T> expected,
                                           std::type_identity_t<T> value, int pe, where at = where::current()) const {
    fetch_later(fetch, x, pe, at, atomic_operations::compare_swap<T>{expected, value});
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  // The compiler may leave the leader on a way of its own until the next barrier, which all lanes of a warp have to
  // make as one.
  STARLING_HD void rejoin_leader() const {
    if (self().members() > 1) target::sync_warp();
  }

  // By the card: its own operation, or comparing and swapping until the word has not changed in between.
  template <class T, class Apply>
  STARLING_HD T by_card_of_gpu(sym<T> x, int pe, where at, const Apply& apply) const {
    using bits = bits_of_size<sizeof(T)>;
    std::uint64_t old = 0;
    const auto change = [&](network::opcode what, std::uint64_t operand, std::uint64_t expected) {
      const bool good = network::request(self(), [&](auto card) {
        return card.change(self().state(), self().index(), self().context_number(), pe, x.on(pe), sizeof(T), what,
                           operand, expected, old, at);
      });
      if (!good) self().give_up();
    };
    if constexpr (Apply::card == by_card::add) {
      change(network::opcode::fetch_add, std::bit_cast<bits>(apply.value), 0);
    } else if constexpr (Apply::card == by_card::compare_swap) {
      change(network::opcode::compare_swap, std::bit_cast<bits>(apply.value), std::bit_cast<bits>(apply.expected));
    } else {
      change(network::opcode::fetch_add, 0, 0);
      if constexpr (Apply::card == by_card::other) {
        for (std::uint64_t expected = old;; expected = old) {
          const T next = apply.changed(std::bit_cast<T>(static_cast<bits>(expected)));
          change(network::opcode::compare_swap, std::bit_cast<bits>(next), expected);
          if (old == expected) break;
        }
      }
    }
    return std::bit_cast<T>(static_cast<bits>(old));
  }

  // The operation, by the group's leader.
  template <class T, class Apply>
  STARLING_HD T by_leader(sym<T> x, int pe, cuda::memory_order order, where at, const Apply& apply) const {
    if (releases(order)) {
      if (self().networked() && !network::request(self(), [&](auto card) {
            return card.quiet(self().state(), self().index(), self().context_number(), at);
          }))
        self().give_up();
      target::fence_system();
    }
    if (self().behind_card(pe)) {
      const T old = by_card_of_gpu(x, pe, at, apply);
      if (acquires(order)) target::fence_system();
      return old;
    }
    const T result = apply(gpu::system_atomic(*x.on(pe)), cuda::memory_order_relaxed).result;
    if (acquires(order)) target::fence_system();
    return result;
  }

  // The same on a virtual device, by one thread. `fetch`: where the result goes until quiet(); null: it is returned.
  template <class T, class Apply>
  T by_port(sym<T> x, int pe, cuda::memory_order order, where at, const Apply& apply, T* fetch) const {
    struct call {
      T* word;
      const Apply* apply;
      cuda::memory_order order;
      T result;
    } c{x.on(pe), &apply, order, T{}};
    const auto do_it = [](void* argument) {
      auto* one = static_cast<call*>(argument);
      const atomic_operations::outcome<T> o = (*one->apply)(gpu::system_atomic(*one->word), one->order);
      one->result = o.result;
      return o.stored;
    };
    atomic_call wanted{c.word, sizeof(T), pe, order, at, do_it, &c, self().context_number(), fetch, &c.result};
    wanted.card = Apply::card;
    using bits = bits_of_size<sizeof(T)>;
    if constexpr (Apply::card == by_card::add) wanted.operand = std::bit_cast<bits>(apply.value);
    if constexpr (Apply::card == by_card::compare_swap) {
      wanted.operand = std::bit_cast<bits>(apply.value);
      wanted.expected = std::bit_cast<bits>(apply.expected);
    }
    wanted.changed = [](const void* argument, std::uint64_t old) -> std::uint64_t {
      const T before = std::bit_cast<T>(static_cast<bits>(old));
      return std::bit_cast<bits>(static_cast<const call*>(argument)->apply->changed(before));
    };
    wanted.answer = [](void* argument, std::uint64_t old) {
      static_cast<call*>(argument)->result = std::bit_cast<T>(static_cast<bits>(old));
    };
    self().own_port().atomic(wanted);
    return c.result;
  }

  template <class T, class Apply>
  STARLING_HD void check(sym<T> x, int pe, where at, [[maybe_unused]] const Apply& apply) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 byte types");
    self().check_peer(pe, operation::atomic, at);
    if constexpr (!target::on_gpu)
      self().come_alike("an atomic operation", {argument_bits(x.on(pe)), argument_bits(pe), apply.bits()}, at);
  }

  template <class T, class Apply>
  STARLING_HD T fetched(sym<T> x, int pe, cuda::memory_order order, where at, const Apply& apply) const {
    check(x, pe, at, apply);
    const trace_span span(self(), trace_operation::atomic, pe, sizeof(T));
    if (releases(order)) self().sync(at);  // the leader's fence then counts for what all threads have written
    T result{};
    if (self().member() == 0) {
      if constexpr (target::on_gpu)
        result = by_leader(x, pe, order, at, apply);
      else
        result = by_port<T>(x, pe, order, at, apply, nullptr);
    }
    result = self().first(result);
    if constexpr (std::is_same_v<Self, warp>)
      if (acquires(order)) self().sync(at);  // of a block, first() is a barrier that orders
    return result;
  }

  template <class T, class Apply>
  STARLING_HD void done(sym<T> x, int pe, cuda::memory_order order, where at, const Apply& apply) const {
    check(x, pe, at, apply);
    const trace_span span(self(), trace_operation::atomic, pe, sizeof(T));
    if constexpr (target::on_gpu) {
      if (releases(order)) self().sync();
      if (self().member() == 0) (void)by_leader(x, pe, order, at, apply);
      rejoin_leader();
      if (acquires(order)) self().end_if_absent(operation::atomic, at);
    } else {
      if (releases(order)) self().sync(at);
      if (self().member() == 0) (void)by_port<T>(x, pe, order, at, apply, nullptr);
      if (acquires(order)) self().sync(at);
    }
  }

  template <class T, class Apply>
  STARLING_HD void fetch_later(T* fetch, sym<T> x, int pe, where at, const Apply& apply) const {
    check(x, pe, at, apply);
    const trace_span span(self(), trace_operation::atomic, pe, sizeof(T));
    if constexpr (target::on_gpu) {
      if (self().member() == 0) *fetch = by_leader(x, pe, cuda::memory_order_relaxed, at, apply);
      rejoin_leader();
    } else if (self().member() == 0) {
      (void)by_port<T>(x, pe, cuda::memory_order_relaxed, at, apply, fetch);
    }
  }
};

}  // namespace starling
