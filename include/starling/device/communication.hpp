// Communication of a group of threads with other PEs; names and meanings are OpenSHMEM 1.5's. Mixin for block, warp and
// thread: every call is a collective of the group, all its threads call it with the same arguments.
//
// `dest` and `source` on the far side are symmetric (sym<T>), on the near side ordinary pointers. `at` is where the
// call stands, for reports; leave it to its default. A PE that does not exist, and a wait past its deadline, end the
// program on every PE; the call does not return and the host throws range_error or stall_error.
#pragma once

#include <concepts>
#include <type_traits>

#include "starling/device/gpu_copy.hpp"
#include "starling/device/gpu_wait.hpp"
#include "starling/device/loops.hpp"
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

// One of the signals that wait_each waits for. `from`: the PE that is to raise it, for reports.
struct awaited_signal {
  sym<signal> sig;
  int from;
};

template <class Self>
class communication {
 public:
  // ---- put: write to `pe` ----

  // On return the source may be reused; the data is on its way. Not ordered with anything before fence() or quiet().
  template <class T>
  STARLING_HD void put(sym<T> dest, const std::type_identity_t<T>* source, index_t n, int pe,
                       where at = where::current()) const {
    put_elements(dest, 1, source, 1, n, pe, true, at);
  }

  // As put; the source must stay as it is until quiet().
  template <class T>
  STARLING_HD void put_nbi(sym<T> dest, const std::type_identity_t<T>* source, index_t n, int pe,
                           where at = where::current()) const {
    put_elements(dest, 1, source, 1, n, pe, false, at);
  }

  // As put, with strides in elements.
  template <class T>
  STARLING_HD void iput(sym<T> dest, index_t dest_stride, const std::type_identity_t<T>* source, index_t source_stride,
                        index_t n, int pe, where at = where::current()) const {
    put_elements(dest, dest_stride, source, source_stride, n, pe, true, at);
  }

  // As put, of one value.
  template <class T>
  STARLING_HD void p(sym<T> dest, const std::type_identity_t<T>& value, int pe, where at = where::current()) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put, pe, sizeof(T));
    if constexpr (target::on_gpu) {
      if (leader()) *dest.on(pe) = value;
    } else {
      put_on_host(dest, 1, &value, 1, 1, pe, true, at);
    }
  }

  // ---- put_signal: data, then its signal ----

  // Writes n elements and then sets (or adds to) the signal at `pe`. Who sees the new signal sees this call's data.
  // Earlier puts are not covered: call fence() before. On return the source may be reused.
  template <class T>
  STARLING_HD void put_signal(sym<T> dest, const std::type_identity_t<T>* source, index_t n, sym<signal> sig,
                              std::uint64_t value, int pe, signal_op op = signal_op::set,
                              where at = where::current()) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put_signal, pe, bytes<T>(n), sig, value, op);
    if constexpr (target::on_gpu) {
      gpu::copy(self().member(), self().members(), dest.on(pe), source, n);
      self().sync();
      raise(sig, value, op, pe);
    } else {
      self().port().put_signal(contiguous(dest.on(pe), source, n, pe, true, at), {sig.on(pe), op, value, pe, at, true});
    }
  }

  // As above with f(i) as element i: the data goes to `pe` without a copy in local memory. f is called once per
  // element.
  template <class T, element_source<T> F>
  STARLING_HD void put_signal(sym<T> dest, const F& f, index_t n, sym<signal> sig, std::uint64_t value, int pe,
                              signal_op op = signal_op::set, where at = where::current()) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put_signal, pe, bytes<T>(n), sig, value, op);
    if constexpr (target::on_gpu) {
      T* to = dest.on(pe);
      for (index_t i = self().member(); i < n; i += self().members()) to[i] = f(i);
      self().sync();
      raise(sig, value, op, pe);
    } else {
      T* staged = reinterpret_cast<T*>(self().port().staging(static_cast<std::size_t>(n) * sizeof(T)));
      for (index_t i = 0; i < n; ++i) staged[i] = f(i);
      self().port().put_signal(contiguous(dest.on(pe), staged, n, pe, true, at), {sig.on(pe), op, value, pe, at});
    }
  }

  // As `puts` calls of put_signal, the i-th being to(i) with f(i, k) as element k, all signals set to `value`, but
  // with one barrier for all: threads that have no part in one put make the next, and signals are raised side by side.
  // For what goes to several PEs in each step, such as halos. f must not read what the puts write.
  template <class T, class To, class F>
    requires std::is_invocable_r_v<signalled_put<T>, const To&, int> && std::is_invocable_r_v<T, const F&, int, index_t>
  STARLING_HD void put_signals(int puts, const To& to, const F& f, std::uint64_t value,
                               where at = where::current()) const {
    if constexpr (target::on_gpu) {
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
        raise_by_thread(put.sig, value, signal_op::set, put.pe);
      }
    } else {
      for (int i = 0; i < puts; ++i) {
        const signalled_put<T> put = to(i);
        put_signal(put.dest, [&](index_t k) { return f(i, k); }, put.n, put.sig, value, put.pe, signal_op::set, at);
      }
    }
  }

  // put with f(i) as element i.
  template <class T, element_source<T> F>
  STARLING_HD void put(sym<T> dest, const F& f, index_t n, int pe, where at = where::current()) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put, pe, bytes<T>(n));
    if constexpr (target::on_gpu) {
      T* to = dest.on(pe);
      for (index_t i = self().member(); i < n; i += self().members()) to[i] = f(i);
    } else {
      T* staged = reinterpret_cast<T*>(self().port().staging(static_cast<std::size_t>(n) * sizeof(T)));
      for (index_t i = 0; i < n; ++i) staged[i] = f(i);
      put_on_host(dest, 1, staged, 1, n, pe, true, at);
    }
  }

  // ---- get: read from `pe` ----

  // On return the data is in dest and every thread of the group may read it.
  template <class T>
  STARLING_HD void get(std::type_identity_t<T>* dest, sym<T> source, index_t n, int pe,
                       where at = where::current()) const {
    get_elements(dest, 1, source, 1, n, pe, true, at);
    if constexpr (target::on_gpu) self().sync();
  }

  // As get; dest is not to be touched until quiet().
  template <class T>
  STARLING_HD void get_nbi(std::type_identity_t<T>* dest, sym<T> source, index_t n, int pe,
                           where at = where::current()) const {
    get_elements(dest, 1, source, 1, n, pe, false, at);
  }

  // As get, with strides in elements.
  template <class T>
  STARLING_HD void iget(std::type_identity_t<T>* dest, index_t dest_stride, sym<T> source, index_t source_stride,
                        index_t n, int pe, where at = where::current()) const {
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
      if constexpr (std::is_scalar_v<T>)
        return *static_cast<const volatile T*>(source.on(pe));
      else
        return *source.on(pe);
    } else {
      T value;
      self().port().get(contiguous(&value, source.on(pe), 1, pe, true, at));
      return value;
    }
  }

  // ---- order ----

  // Puts of this group before the call arrive, at each PE, before its puts and signals after the call.
  STARLING_HD void fence() const {
    const trace_span span(self(), trace_operation::fence, any_pe, 0);
    if constexpr (target::on_gpu) {
      fence_by_leader();
    } else {
      self().port().fence();
    }
  }

  // Puts of this group before the call have arrived, and its gets are complete, on return.
  STARLING_HD void quiet() const {
    const trace_span span(self(), trace_operation::quiet, any_pe, 0);
    if constexpr (target::on_gpu) {
      fence_by_leader();
    } else {
      self().port().quiet();
    }
  }

  // ---- signals ----

  // Sets or adds to a signal at `pe` after all earlier accesses to this PE's own memory by the group. Puts to `pe` are
  // covered only after fence() (to other PEs: after quiet()).
  STARLING_HD void signal_set(sym<signal> sig, std::uint64_t value, int pe, where at = where::current()) const {
    update(sig, value, pe, signal_op::set, at);
  }
  STARLING_HD void signal_add(sym<signal> sig, std::uint64_t value, int pe, where at = where::current()) const {
    update(sig, value, pe, signal_op::add, at);
  }

  // Waits until the local copy of `sig` compares to `value`, then every thread of the group sees what was written
  // before the signal was raised. `from`: the PE that is to raise it; a stall report then knows whom this block waits
  // for.
  STARLING_HD void wait(sym<signal> sig, compare how, std::uint64_t value, int from = any_pe,
                        where at = where::current()) const {
    const trace_span span(self(), trace_operation::wait, from, 1, sig, value);
    wait_as(operation::wait, sig, 1, how, value, from, at);
  }
  STARLING_HD void wait(sym<signal> sig, std::uint64_t at_least, int from = any_pe, where at = where::current()) const {
    const trace_span span(self(), trace_operation::wait, from, 1, sig, at_least);
    wait_as(operation::wait, sig, 1, compare::ge, at_least, from, at);
  }

  // Waits until each of n signals, one after the other in memory, is at least `value`.
  STARLING_HD void wait_all(sym<signal> first, index_t n, std::uint64_t at_least, int from = any_pe,
                            where at = where::current()) const {
    const trace_span span(self(), trace_operation::wait, from, n, first, at_least);
    wait_as(operation::wait, first, n, compare::ge, at_least, from, at);
  }

  // Waits until each of the n signals what(i) is at least `value`, as wait_all does for signals side by side.
  template <class What>
    requires std::is_invocable_r_v<awaited_signal, const What&, int>
  STARLING_HD void wait_each(int n, const What& what, std::uint64_t at_least, where at = where::current()) const {
    if constexpr (target::on_gpu) {
      // A trace says of each how long it took: one after the other.
      if (!self().traced()) {
        bool failed = false;
        for (int i = self().member(); i < n; i += self().members()) {
          const awaited_signal s = what(i);
          const wait_request w = request(operation::wait, s.sig, 0, compare::ge, at_least, s.from, at);
          failed = failed || !gpu::wait(self().state(), self().index(), w);
        }
        end_if(failed, operation::wait, at);
        return;
      }
    }
    for (int i = 0; i < n; ++i) {
      const awaited_signal s = what(i);
      wait(s.sig, at_least, s.from, at);
    }
  }

  // Whether the local copy of `sig` compares to `value` now; if so, acquires as wait does. Does not return once the
  // program was ended elsewhere. A loop around it has no deadline of its own: bound it, or use wait.
  STARLING_HD bool test(sym<signal> sig, compare how, std::uint64_t value, where at = where::current()) const {
    const signal* local = sig.on(self().pe());
    if constexpr (target::on_gpu) {
      bool yes = false;
      bool ended = false;
      if (leader()) {
        const auto seen = gpu::system_atomic(const_cast<signal*>(local)->value).load(cuda::memory_order_acquire);
        yes = holds(seen, how, value);
        ended = !yes && gpu::program_ended(self().state());
        if (ended)
          gpu::give_up(self().state(), self().index(), {local, how, value, any_pe, operation::wait, at},
                       block_state::waiting, seen);
      }
      end_if(ended, operation::wait, at);
      return self().votes(yes) > 0;
    } else {
      return self().port().test({local, how, value, any_pe, operation::wait, at});
    }
  }

 protected:
  // One fence is enough, and many at once wait for each other: the barrier before it puts it after what all threads of
  // the group have written, since a fence counts for what its thread has learnt of.
  STARLING_HD void fence_by_leader() const {
    self().sync();
    if (leader()) target::fence_system();
    self().sync();
  }

  // Waits as part of `op`, which a stall report names.
  STARLING_HD void wait_as(operation op, sym<signal> first, index_t n, compare how, std::uint64_t value, int from,
                           where at) const {
    if constexpr (target::on_gpu) {
      bool failed = false;
      for (index_t i = self().member(); i < n; i += self().members())
        failed = failed || !gpu::wait(self().state(), self().index(), request(op, first, i, how, value, from, at));
      end_if(failed, op, at);
    } else {
      for (index_t i = 0; i < n; ++i) self().port().wait(request(op, first, i, how, value, from, at));
    }
  }

  // Ends all threads of the group if one of them has failed, or has left the kernel before: without it the group would
  // go on with what that thread did not do. Also a barrier of the group.
  STARLING_HD void end_if(bool failed, operation op, where at) const {
    if (self().votes(!failed) < self().members()) leave(failed, op, at);
  }

  // Ends the calling thread. A thread that gave up in a wait has reported; one that returned from the kernel has not,
  // and is reported by those that it left.
  STARLING_HD void leave(bool failed, operation op, where at) const {
    if (!failed) gpu::report_absence(self().state(), self().index(), op, at);
    end_thread();
  }

  // Files that the group asks for what there is not, and ends the program, for every thread of the group.
  STARLING_HD void end_program(block_state state, operation op, int peer, std::uint64_t wanted, where at) const {
    if (leader()) gpu::refuse(self().state(), self().index(), state, op, peer, wanted, at);
    self().sync();
    end_thread();
  }

  STARLING_HD void end_thread() const {
    if (self().traced()) tracing::keep(self().state());
    target::exit_thread();
  }

  STARLING_HD void raise(sym<signal> sig, std::uint64_t value, signal_op op, int pe) const {
    if (leader()) raise_by_thread(sig, value, op, pe);
  }

  STARLING_HD void check_pe(int pe, operation op, where at) const {
    if (pe >= 0 && pe < self().n_pes()) return;
    if constexpr (target::on_gpu) {
      end_program(block_state::out_of_range, op, pe, 0, at);
    } else {
      self().port().refuse_pe(op, pe, at);
    }
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }
  STARLING_HD bool leader() const { return self().member() == 0; }

  STARLING_HD wait_request request(operation op, sym<signal> first, index_t i, compare how, std::uint64_t value,
                                   int from, where at) const {
    // In a machine-wide barrier signal i is that of PE i.
    const bool between_pes = (op == operation::sync_all || op == operation::all_reduce || op == operation::broadcast);
    if (between_pes && from == any_pe) from = static_cast<int>(i);
    return {(first + i).on(self().pe()), how, value, from, op, at};
  }

  STARLING_HD void raise_by_thread(sym<signal> sig, std::uint64_t value, signal_op op, int pe) const {
    // Only blocks of `pe` wait for its copy: for one's own PE the cheaper fence suffices.
    signal& target = *sig.on(pe);
    if (pe == self().pe())
      raise(gpu::device_atomic(target.value), value, op);
    else
      raise(gpu::system_atomic(target.value), value, op);
  }

  template <class Word>
  STARLING_HD static void raise(Word word, std::uint64_t value, signal_op op) {
    if (op == signal_op::set)
      word.store(value, cuda::memory_order_release);
    else
      word.fetch_add(value, cuda::memory_order_release);
  }

  STARLING_HD void update(sym<signal> sig, std::uint64_t value, int pe, signal_op op, where at) const {
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::signal, pe, sizeof(signal), sig, value, op);
    if constexpr (target::on_gpu) {
      self().sync();
      raise(sig, value, op, pe);
    } else {
      self().port().update({sig.on(pe), op, value, pe, at, true});
    }
  }

  template <class T>
  STARLING_HD static index_t bytes(index_t n) {
    return n * static_cast<index_t>(sizeof(T));
  }

  template <class T>
  static transfer contiguous(T* dest, const T* source, index_t n, int pe, bool blocking, where at) {
    return {dest, source, n, sizeof(T), 1, 1, pe, blocking, at};
  }

  template <class T>
  void put_on_host(sym<T> dest, index_t dest_stride, const T* source, index_t source_stride, index_t n, int pe,
                   bool blocking, where at) const {
    self().port().put({dest.on(pe), source, n, sizeof(T), dest_stride, source_stride, pe, blocking, at});
  }

  template <class T>
  STARLING_HD void put_elements(sym<T> dest, index_t dest_stride, const T* source, index_t source_stride, index_t n,
                                int pe, bool blocking, where at) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    check_pe(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put, pe, bytes<T>(n));
    if constexpr (target::on_gpu) {
      if (dest_stride == 1 && source_stride == 1) {
        gpu::copy(self().member(), self().members(), dest.on(pe), source, n);
      } else {
        T* to = dest.on(pe);
        for (index_t i = self().member(); i < n; i += self().members()) to[i * dest_stride] = source[i * source_stride];
      }
      if (blocking) self().sync();
    } else {
      put_on_host(dest, dest_stride, source, source_stride, n, pe, blocking, at);
    }
  }

  template <class T>
  STARLING_HD void get_elements(T* dest, index_t dest_stride, sym<T> source, index_t source_stride, index_t n, int pe,
                                bool blocking, where at) const {
    static_assert(std::is_trivially_copyable_v<T>, "get moves trivially copyable types");
    check_pe(pe, operation::get, at);
    const trace_span span(self(), trace_operation::get, pe, bytes<T>(n));
    if constexpr (target::on_gpu) {
      const T* from = source.on(pe);
      if (dest_stride == 1 && source_stride == 1) {
        gpu::copy(self().member(), self().members(), dest, from, n);
      } else {
        for (index_t i = self().member(); i < n; i += self().members()) dest[i * dest_stride] = from[i * source_stride];
      }
    } else {
      self().port().get({dest, source.on(pe), n, sizeof(T), dest_stride, source_stride, pe, blocking, at});
    }
  }
};

}  // namespace starling
