// Communication of a group of threads with other PEs; names and meanings are OpenSHMEM 1.5's. Mixin for block, warp and
// thread: every call is a collective of the group, all its threads call it with the same arguments.
//
// Barriers. Each thread moves some part of what a call moves: sync() stands between computing a source and the call.
// put, iput, get, iget, fence and quiet end with a barrier of the group; put_signal and signals have it before the
// signal. p, g, all that is named _nbi (but for put_signal_nbi), and put with a function have none.
//
// `dest` and `source` on the far side are symmetric (sym<T>), on the near side ordinary pointers. `at` is where the
// call stands, for reports; leave it to its default. A PE that does not exist, and a wait past its deadline, end the
// program on every PE; the call does not return and the host throws range_error or stall_error.
#pragma once

#include <concepts>
#include <type_traits>

#include "starling/device/card_calls.hpp"
#include "starling/device/gpu_copy.hpp"
#include "starling/device/loops.hpp"
#include "starling/device/signalling.hpp"
#include "starling/device/trace_span.hpp"

namespace starling {

// A source that is computed on the fly: f(i) is element i.
template <class F, class T>
concept element_source = std::is_invocable_r_v<T, const F&, index_t>;

// One of the puts that put_signals makes together: n elements, and the signal that says so, at `pe`.
template <class T>
struct signalled_put {
  sym<T> dest;
  index_t n;
  sym<signal> sig;
  int pe;
};

template <class Self>
class communication : public card_calls<Self> {
 public:
  // ---- put: write to `pe` ----

  // On return the source may be reused; the data is on its way. Not ordered with anything before fence() or quiet().
  template <class T>
  [[gnu::always_inline]] STARLING_HD void put(sym<T> dest, const std::type_identity_t<T>* source, index_t n, int pe,
                                              where at = where::current()) const {
    put_elements(dest, 1, source, 1, n, pe, true, at);
  }

  // As put; the source must stay as it is until quiet().
  template <class T>
  [[gnu::always_inline]] STARLING_HD void put_nbi(sym<T> dest, const std::type_identity_t<T>* source, index_t n, int pe,
                                                  where at = where::current()) const {
    put_elements(dest, 1, source, 1, n, pe, false, at);
  }

  // As put, with strides in elements.
  template <class T>
  [[gnu::always_inline]] STARLING_HD void iput(sym<T> dest, index_t dest_stride, const std::type_identity_t<T>* source,
                                               index_t source_stride, index_t n, int pe,
                                               where at = where::current()) const {
    put_elements(dest, dest_stride, source, source_stride, n, pe, true, at);
  }

  // As put, of one value.
  template <class T>
  [[gnu::always_inline]] STARLING_HD void p(sym<T> dest, const std::type_identity_t<T>& value, int pe,
                                            where at = where::current()) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put, pe, sizeof(T));
    if constexpr (target::on_gpu) {
      if (self().behind_card(pe))
        card_put(dest.on(pe), 1, &value, 1, 1, pe, true, at);
      else if (leader())
        gpu::store_word(dest.on(pe), value);
    } else {
      self().come_alike("p", {argument_bits(dest.on(pe)), argument_bits(pe), argument_bits(value)}, at);
      if (leader()) self().own_port().put(transfer_of(dest, 1, &value, 1, 1, pe, true, at));
    }
  }

  // ---- put_signal: data, then its signal ----

  // Writes n elements and then sets (or adds to) the signal at `pe`. Who sees the new signal sees this call's data.
  // Earlier puts are not covered: call fence() before. On return the source may be reused.
  template <class T>
  [[gnu::always_inline]] STARLING_HD void put_signal(sym<T> dest, const std::type_identity_t<T>* source, index_t n,
                                                     sym<signal> sig, std::uint64_t value, int pe,
                                                     signal_op op = signal_op::set, where at = where::current()) const {
    signalled_elements(dest, source, n, sig, value, pe, op, true, at);
  }

  // As put_signal; the source must stay as it is until quiet().
  template <class T>
  [[gnu::always_inline]] STARLING_HD void put_signal_nbi(sym<T> dest, const std::type_identity_t<T>* source, index_t n,
                                                         sym<signal> sig, std::uint64_t value, int pe,
                                                         signal_op op = signal_op::set,
                                                         where at = where::current()) const {
    signalled_elements(dest, source, n, sig, value, pe, op, false, at);
  }

  // put_signal that adds the bytes it has delivered to a counter at `pe`. Several PEs, or blocks, may share a counter;
  // who waits until it is at least so many bytes sees them, if all who add to it have to come for that.
  template <class T>
  [[gnu::always_inline]] STARLING_HD void put_counted(sym<T> dest, const std::type_identity_t<T>* source, index_t n,
                                                      sym<signal> counter, int pe, where at = where::current()) const {
    signalled_elements(dest, source, n, counter, n > 0 ? static_cast<std::uint64_t>(bytes<T>(n)) : 0, pe,
                       signal_op::add, true, at);
  }

  // put_signal with f(i) as element i: the data goes to `pe` without a copy in local memory. f is called once per
  // element.
  template <class T, element_source<T> F>
  STARLING_HD void put_signal(sym<T> dest, const F& f, index_t n, sym<signal> sig, std::uint64_t value, int pe,
                              signal_op op = signal_op::set, where at = where::current()) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put_signal, pe, bytes<T>(n), sig, value, op);
    if constexpr (target::on_gpu) {
      T* to = dest.on(pe);
      if (self().behind_card(pe)) {
        const signal_update then = signal_of(sig, op, value, pe, at);
        card_put_made(to, f, n, pe, at, &then);
        return;
      }
      for (index_t i = self().member(); i < n; i += self().members()) to[i] = f(i);
      self().sync();
      raise(sig, value, op, pe, at);
    } else {
      T* staged = reinterpret_cast<T*>(self().port().staging(static_cast<std::size_t>(n) * sizeof(T)));
      for (index_t i = self().member(); i < n; i += self().members()) staged[i] = f(i);
      self().port().put_signal(contiguous(dest.on(pe), staged, n, pe, true, at), signal_of(sig, op, value, pe, at));
    }
  }

  // As `puts` calls of put_signal, the i-th being to(i) with f(i, k) as element k, all signals set to `value`, but
  // with one barrier for all: threads that have no part in one put make the next, and signals are raised side by side.
  // For what goes to several PEs in each step, such as halos. f must not read what the puts write.
  template <class T, class To, class F>
    requires std::is_invocable_r_v<signalled_put<T>, const To&, int> && std::is_invocable_r_v<T, const F&, int, index_t>
  STARLING_HD void put_signals(int puts, const To& to, const F& f, std::uint64_t value,
                               where at = where::current()) const {
    if (!target::on_gpu || self().networked()) {
      for (int i = 0; i < puts; ++i) {
        const signalled_put<T> put = to(i);
        put_signal(put.dest, [&](index_t k) { return f(i, k); }, put.n, put.sig, value, put.pe, signal_op::set, at);
      }
    } else if constexpr (target::on_gpu) {
      index_t k = self().member();
      for (int i = 0; i < puts; ++i) {
        const signalled_put<T> put = to(i);
        check_pe(put.pe, operation::put, at);
        const trace_span span(self(), trace_operation::put_signal, put.pe, bytes<T>(put.n), put.sig, value);
        T* dest = put.dest.on(put.pe);
        // Some at once, so that what f loads is on its way together.
        constexpr int together = 4;
        const index_t step = self().members();
        for (; k + (together - 1) * step < put.n; k += together * step) {
          T made[together];
          unrolled<together>([&](auto j) { made[j] = f(i, k + j * step); });
          unrolled<together>([&](auto j) { dest[k + j * step] = made[j]; });
        }
        for (; k < put.n; k += step) dest[k] = f(i, k);
        k -= put.n;
      }
      self().sync();
      for (int i = self().member(); i < puts; i += self().members()) {
        const signalled_put<T> put = to(i);
        raise_by_thread(put.sig, value, signal_op::set, put.pe, at);
      }
    }
  }

  // put with f(i) as element i, without a barrier: what f reads is not to be overwritten before sync().
  template <class T, element_source<T> F>
  STARLING_HD void put(sym<T> dest, const F& f, index_t n, int pe, where at = where::current()) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put, pe, bytes<T>(n));
    if constexpr (target::on_gpu) {
      T* to = dest.on(pe);
      if (self().behind_card(pe))
        card_put_made(to, f, n, pe, at);
      else
        for (index_t i = self().member(); i < n; i += self().members()) to[i] = f(i);
    } else {
      T* staged = reinterpret_cast<T*>(self().port().staging(static_cast<std::size_t>(n) * sizeof(T)));
      for (index_t i = self().member(); i < n; i += self().members()) staged[i] = f(i);
      transfer made = transfer_of(dest, 1, staged, 1, n, pe, true, at);
      made.barrier = false;
      self().port().put(made);
    }
  }

  // ---- get: read from `pe` ----

  // On return the data is in dest and every thread of the group may read it.
  template <class T>
  [[gnu::always_inline]] STARLING_HD void get(std::type_identity_t<T>* dest, sym<T> source, index_t n, int pe,
                                              where at = where::current()) const {
    get_elements(dest, 1, source, 1, n, pe, true, at);
    if constexpr (target::on_gpu) self().sync();
  }

  // As get; dest is not to be touched until quiet().
  template <class T>
  [[gnu::always_inline]] STARLING_HD void get_nbi(std::type_identity_t<T>* dest, sym<T> source, index_t n, int pe,
                                                  where at = where::current()) const {
    get_elements(dest, 1, source, 1, n, pe, false, at);
  }

  // As get, with strides in elements.
  template <class T>
  [[gnu::always_inline]] STARLING_HD void iget(std::type_identity_t<T>* dest, index_t dest_stride, sym<T> source,
                                               index_t source_stride, index_t n, int pe,
                                               where at = where::current()) const {
    get_elements(dest, dest_stride, source, source_stride, n, pe, true, at);
    if constexpr (target::on_gpu) self().sync();
  }

  // One value, to every thread of the group.
  template <class T>
  STARLING_HD T g(sym<T> source, int pe, where at = where::current()) const {
    static_assert(std::is_trivially_copyable_v<T>, "get moves trivially copyable types");
    check_pe(pe, operation::get, at);
    const trace_span span(self(), trace_operation::get, pe, sizeof(T));
    if constexpr (target::on_gpu) {
      if (self().behind_card(pe)) return card_value(source.on(pe), pe, at);
      if constexpr (std::is_scalar_v<T>)
        return *static_cast<const volatile T*>(source.on(pe));
      else
        return *source.on(pe);
    } else {
      T value;
      self().own_port().get({&value, source.on(pe), 1, sizeof(T), 1, 1, pe, true, at, sizeof(T)});
      return value;
    }
  }

  // ---- ptr: another PE's copy in place ----

  // Where this block's loads, stores and atomics reach the copy of `pe`; null where only calls do, by way of a card.
  template <class T>
  STARLING_HD T* ptr(sym<T> x, int pe, where at = where::current()) const {
    check_pe(pe, operation::get, at);
    if constexpr (target::on_gpu) {
      if (self().behind_card(pe)) return nullptr;
    } else {
      if (!self().port().reach(pe)) return nullptr;
    }
    return x.on(pe);
  }

  // ---- order ----

  // Puts of this group before the call arrive, at each PE, before its puts and signals after the call.
  STARLING_HD void fence() const {
    const trace_span span(self(), trace_operation::fence, any_pe, 0);
    if constexpr (target::on_gpu) {
      if (self().networked() && leader()) network::fence(self().state(), self().index(), self().context_number());
      fence_by_leader();
    } else {
      self().port().fence(self().context_number());
    }
  }

  // Puts of this group before the call have arrived, and its gets are complete, on return.
  STARLING_HD void quiet(where at = where::current()) const {
    const trace_span span(self(), trace_operation::quiet, any_pe, 0);
    if constexpr (target::on_gpu) {
      if (self().networked()) card_quiet(at);
      fence_by_leader();
    } else {
      self().port().quiet(self().context_number());
    }
  }

 protected:
  using signals = signalling<Self>;
  using signals::check_pe;
  using signals::raise;
  using signals::raise_by_thread;
  using cards = card_calls<Self>;
  using cards::ask_card;
  using cards::card_put;
  using cards::card_put_made;
  using cards::card_put_signal;
  using cards::card_quiet;
  using cards::card_transfer;
  using cards::card_value;

  // One fence is enough, and many at once wait for each other: the barrier before it puts it after what all threads of
  // the group have written, since a fence counts for what its thread has learnt of.
  STARLING_HD void fence_by_leader() const {
    self().sync();
    if (leader()) target::fence_system();
    self().sync();
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }
  STARLING_HD bool leader() const { return self().member() == 0; }

  template <class T>
  STARLING_HD static index_t bytes(index_t n) {
    return static_cast<index_t>(static_cast<std::size_t>(n) * sizeof(T));  // of a count that makes no sense any number
  }

  template <class T>
  [[gnu::always_inline]] transfer contiguous(T* dest, const T* source, index_t n, int pe, bool blocking,
                                             where at) const {
    return {dest, source, n, sizeof(T), 1, 1, pe, blocking, at, bytes_behind(source), self().context_number()};
  }

  STARLING_HD signal_update signal_of(sym<signal> sig, signal_op op, std::uint64_t value, int pe, where at) const {
    return {sig.on(pe), op, value, pe, at, true, self().context_number()};
  }

  template <class T>
  [[gnu::always_inline]] transfer transfer_of(sym<T> dest, index_t dest_stride, const T* source, index_t source_stride,
                                              index_t n, int pe, bool blocking, where at) const {
    transfer t = card_transfer(dest.on(pe), dest_stride, source, source_stride, n, pe, blocking, at);
    t.near_bytes = bytes_behind(source);
    return t;
  }

  template <class T>
  [[gnu::always_inline]] STARLING_HD void put_elements(sym<T> dest, index_t dest_stride, const T* source,
                                                       index_t source_stride, index_t n, int pe, bool blocking,
                                                       where at) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put, pe, bytes<T>(n));
    if constexpr (target::on_gpu) {
      if (self().behind_card(pe)) {
        card_put(dest.on(pe), dest_stride, source, source_stride, n, pe, blocking, at);
        return;
      }
      if (dest_stride == 1 && source_stride == 1) {
        gpu::copy(self().member(), self().members(), dest.on(pe), source, n);
      } else {
        T* to = dest.on(pe);
        for (index_t i = self().member(); i < n; i += self().members()) to[i * dest_stride] = source[i * source_stride];
      }
      if (blocking) self().sync();
    } else {
      self().port().put(transfer_of(dest, dest_stride, source, source_stride, n, pe, blocking, at));
    }
  }

  template <class T>
  [[gnu::always_inline]] STARLING_HD void signalled_elements(sym<T> dest, const T* source, index_t n, sym<signal> sig,
                                                             std::uint64_t value, int pe, signal_op op, bool blocking,
                                                             where at) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put_signal, pe, bytes<T>(n), sig, value, op);
    if constexpr (target::on_gpu) {
      if (self().behind_card(pe)) {
        card_put_signal(dest.on(pe), source, n, signal_of(sig, op, value, pe, at), pe, blocking, at);
        return;
      }
      gpu::copy(self().member(), self().members(), dest.on(pe), source, n);
      self().sync();
      raise(sig, value, op, pe, at);
    } else {
      self().port().put_signal(contiguous(dest.on(pe), source, n, pe, blocking, at), signal_of(sig, op, value, pe, at));
    }
  }

  template <class T>
  [[gnu::always_inline]] STARLING_HD void get_elements(T* dest, index_t dest_stride, sym<T> source,
                                                       index_t source_stride, index_t n, int pe, bool blocking,
                                                       where at) const {
    static_assert(std::is_trivially_copyable_v<T>, "get moves trivially copyable types");
    check_pe(pe, operation::get, at);
    const trace_span span(self(), trace_operation::get, pe, bytes<T>(n));
    if constexpr (target::on_gpu) {
      const T* from = source.on(pe);
      if (self().behind_card(pe)) {
        ask_card(operation::get, at, [&](auto card) {
          return card.get(self().state(), self().index(),
                          card_transfer(dest, dest_stride, from, source_stride, n, pe, blocking, at));
        });
        return;
      }
      if (dest_stride == 1 && source_stride == 1) {
        gpu::copy(self().member(), self().members(), dest, from, n);
      } else {
        for (index_t i = self().member(); i < n; i += self().members()) dest[i * dest_stride] = from[i * source_stride];
      }
    } else {
      self().port().get({dest, source.on(pe), n, sizeof(T), dest_stride, source_stride, pe, blocking, at,
                         bytes_behind(dest), self().context_number()});
    }
  }
};

}  // namespace starling
