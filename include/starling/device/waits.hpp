// Waits for words of any type of 4 or 8 bytes, which whoever likes changes: a put, an atomic operation, a signal. Names
// and meanings are OpenSHMEM 1.5's. Mixin for block, warp and thread, beside signalling: every call is a collective of
// the group and looks at the copies of its own PE.
//
// A call that returns because a word compares acquires: every thread of the group sees what was written before the word
// by who released it (a signal, an atomic operation with release), and of who has put it as data, that data and what he
// has fenced before. take_value alone orders nothing. Comparisons are those of the word's type. Every wait has the
// program's deadline, those named _for a time of their own, in seconds, after which they return and say so. `from`: the
// PE that is to change the word, for reports.
//
// Of several words, `status` says by word which do not count: not zero; null: all count. `values` of a _vector form are
// what each is compared with. Both, and `indices`, are memory that all threads of the group see. Without any word that
// counts, calls for all are satisfied at once, and calls for any or some find none.
#pragma once

#include "starling/device/gpu_wait.hpp"
#include "starling/device/loops.hpp"
#include "starling/device/trace_span.hpp"

namespace starling {

template <class Self>
class waits {
 public:
  template <waitable_word T>
  STARLING_HD void wait_until(sym<T> x, compare how, std::type_identity_t<T> value, int from = any_pe,
                              where at = where::current()) const {
    (void)wait_word(operation::wait_until, x, how, value, 0, from, at);
  }
  template <waitable_word T>
  STARLING_HD wait_status wait_until_for(sym<T> x, compare how, std::type_identity_t<T> value, double seconds,
                                         int from = any_pe, where at = where::current()) const {
    return wait_word(operation::wait_until, x, how, value, limit_in_ns(seconds), from, at);
  }

  // Whether it compares now. Does not return once the program was ended elsewhere. A loop around it has no deadline of
  // its own: bound it, or wait.
  template <waitable_word T>
  STARLING_HD bool test(sym<T> x, compare how, std::type_identity_t<T> value, where at = where::current()) const {
    const several<T> one{x, 1, nullptr, how, value, nullptr};
    index_t index = no_index;
    return collect(one, &index, 1, at) > 0;
  }

  // Waits until the word is no longer `absent`, bit by bit, and returns it: the value is its own flag. Orders nothing.
  template <flag_word T>
  STARLING_HD T take_value(sym<T> source, std::type_identity_t<T> absent, int from = any_pe,
                           where at = where::current()) const {
    const trace_span span(self(), trace_operation::wait, from, 1, as_signal(source), widened(absent));
    wait_request w = request(operation::take_value, source, compare::ne, absent, from, at);
    if constexpr (target::on_gpu) {
      using bits = bits_of_size<sizeof(T)>;
      auto word = gpu::system_atomic(*reinterpret_cast<bits*>(source.on(self().pe())));
      bits seen = 0;
      bool came = true;
      if (leader())
        came =
            gpu::poll(self().state(), self().index(), w, [&] { return seen = word.load(cuda::memory_order_relaxed); });
      self().end_if_failed(!came, operation::take_value, at);
      return self().first(std::bit_cast<T>(seen));
    } else {
      std::uint64_t seen = 0;
      w.seen = &seen;
      (void)self().port().wait(w);
      return std::bit_cast<T>(static_cast<bits_of_size<sizeof(T)>>(seen));
    }
  }

  // ---- of n words side by side: all, any or some of them ----

  template <waitable_word T>
  STARLING_HD void wait_until_all(sym<T> first, index_t n, const int* status, compare how,
                                  std::type_identity_t<T> value, int from = any_pe, where at = where::current()) const {
    (void)wait_each_of<T>({first, n, status, how, value, nullptr}, 0, from, at);
  }
  template <waitable_word T>
  STARLING_HD wait_status wait_until_all_for(sym<T> first, index_t n, const int* status, compare how,
                                             std::type_identity_t<T> value, double seconds, int from = any_pe,
                                             where at = where::current()) const {
    return wait_each_of<T>({first, n, status, how, value, nullptr}, limit_in_ns(seconds), from, at);
  }
  template <waitable_word T>
  STARLING_HD void wait_until_all_vector(sym<T> first, index_t n, const int* status, compare how,
                                         const std::type_identity_t<T>* values, int from = any_pe,
                                         where at = where::current()) const {
    (void)wait_each_of<T>({first, n, status, how, T{}, values}, 0, from, at);
  }

  // The number of a word that compares; no_index: none counts, or the time is over.
  template <waitable_word T>
  STARLING_HD index_t wait_until_any(sym<T> first, index_t n, const int* status, compare how,
                                     std::type_identity_t<T> value, int from = any_pe,
                                     where at = where::current()) const {
    return wait_for_one<T>({first, n, status, how, value, nullptr}, 0, from, at);
  }
  template <waitable_word T>
  STARLING_HD index_t wait_until_any_for(sym<T> first, index_t n, const int* status, compare how,
                                         std::type_identity_t<T> value, double seconds, int from = any_pe,
                                         where at = where::current()) const {
    return wait_for_one<T>({first, n, status, how, value, nullptr}, limit_in_ns(seconds), from, at);
  }
  template <waitable_word T>
  STARLING_HD index_t wait_until_any_vector(sym<T> first, index_t n, const int* status, compare how,
                                            const std::type_identity_t<T>* values, int from = any_pe,
                                            where at = where::current()) const {
    return wait_for_one<T>({first, n, status, how, T{}, values}, 0, from, at);
  }

  // Waits until one compares, and writes the numbers of all that do to `indices`, the lowest first; returns how many.
  template <waitable_word T>
  STARLING_HD index_t wait_until_some(sym<T> first, index_t n, index_t* indices, const int* status, compare how,
                                      std::type_identity_t<T> value, int from = any_pe,
                                      where at = where::current()) const {
    return wait_for_several<T>({first, n, status, how, value, nullptr}, indices, n, 0, from, at);
  }
  template <waitable_word T>
  STARLING_HD index_t wait_until_some_for(sym<T> first, index_t n, index_t* indices, const int* status, compare how,
                                          std::type_identity_t<T> value, double seconds, int from = any_pe,
                                          where at = where::current()) const {
    return wait_for_several<T>({first, n, status, how, value, nullptr}, indices, n, limit_in_ns(seconds), from, at);
  }
  template <waitable_word T>
  STARLING_HD index_t wait_until_some_vector(sym<T> first, index_t n, index_t* indices, const int* status, compare how,
                                             const std::type_identity_t<T>* values, int from = any_pe,
                                             where at = where::current()) const {
    return wait_for_several<T>({first, n, status, how, T{}, values}, indices, n, 0, from, at);
  }

  // The same of what they hold now.
  template <waitable_word T>
  STARLING_HD bool test_all(sym<T> first, index_t n, const int* status, compare how, std::type_identity_t<T> value,
                            where at = where::current()) const {
    return all_hold<T>({first, n, status, how, value, nullptr}, at);
  }
  template <waitable_word T>
  STARLING_HD bool test_all_vector(sym<T> first, index_t n, const int* status, compare how,
                                   const std::type_identity_t<T>* values, where at = where::current()) const {
    return all_hold<T>({first, n, status, how, T{}, values}, at);
  }
  template <waitable_word T>
  STARLING_HD index_t test_any(sym<T> first, index_t n, const int* status, compare how, std::type_identity_t<T> value,
                               where at = where::current()) const {
    return one_that_holds<T>({first, n, status, how, value, nullptr}, at);
  }
  template <waitable_word T>
  STARLING_HD index_t test_any_vector(sym<T> first, index_t n, const int* status, compare how,
                                      const std::type_identity_t<T>* values, where at = where::current()) const {
    return one_that_holds<T>({first, n, status, how, T{}, values}, at);
  }
  template <waitable_word T>
  STARLING_HD index_t test_some(sym<T> first, index_t n, index_t* indices, const int* status, compare how,
                                std::type_identity_t<T> value, where at = where::current()) const {
    return collect<T>({first, n, status, how, value, nullptr}, indices, n, at);
  }
  template <waitable_word T>
  STARLING_HD index_t test_some_vector(sym<T> first, index_t n, index_t* indices, const int* status, compare how,
                                       const std::type_identity_t<T>* values, where at = where::current()) const {
    return collect<T>({first, n, status, how, T{}, values}, indices, n, at);
  }

 private:
  // Words side by side, and what they are to be.
  template <class T>
  struct several {
    sym<T> first;
    index_t n;
    const int* status;
    compare how;
    T value;
    const T* values;

    STARLING_HD bool counts(index_t i) const { return status == nullptr || status[i] == 0; }
    STARLING_HD T wanted(index_t i) const { return values != nullptr ? values[i] : value; }
    STARLING_HD index_t first_that_counts() const {
      index_t i = 0;
      while (i < n && !counts(i)) ++i;
      return i;
    }
  };

  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }
  STARLING_HD bool leader() const { return self().member() == 0; }

  template <class T>
  STARLING_HD static sym<signal> as_signal(sym<T> x) {
    return {reinterpret_cast<signal*>(const_cast<std::remove_const_t<T>*>(x.on(0))), x.stride_bytes()};
  }

  template <class T>
  STARLING_HD wait_request request(operation op, sym<T> x, compare how, const T& value, int from, where at) const {
    wait_request w{x.on(self().pe()), how, widened(value), from, op, at};
    w.kind = kind_of<T>();
    return w;
  }

  // The thread that looks at a word is the one that acquires; the group's barrier behind it tells the others.
  template <class T>
  STARLING_HD static T acquired(T* word) {
    return gpu::system_atomic(*word).load(cuda::memory_order_acquire);
  }

  template <class T>
  STARLING_HD gpu::wait_end poll_word(wait_request w) const {
    T* word = static_cast<T*>(const_cast<void*>(w.local));
    return gpu::poll_until(self().state(), self().index(), w, [&] { return acquired(word); });
  }

  // How a wait ended for the group whose threads' waits ended like this.
  STARLING_HD wait_status together(gpu::wait_end mine, operation op, where at) const {
    self().end_if_failed(mine == gpu::wait_end::failed, op, at);
    return self().any(mine == gpu::wait_end::timed_out, at) ? wait_status::timed_out : wait_status::came;
  }

  template <class T>
  STARLING_HD wait_status wait_word(operation op, sym<T> x, compare how, const T& value, std::uint64_t limit_ns,
                                    int from, where at) const {
    const trace_span span(self(), trace_operation::wait, from, 1, as_signal(x), widened(value));
    wait_request w = request(op, x, how, value, from, at);
    w.limit_ns = limit_ns;
    if constexpr (target::on_gpu) {
      const gpu::wait_end end = leader() ? poll_word<T>(w) : gpu::wait_end::came;
      if (limit_ns != 0) return together(end, op, at);
      self().end_if_failed(end == gpu::wait_end::failed, op, at);
      return wait_status::came;
    } else {
      return self().port().wait(w) ? wait_status::came : wait_status::timed_out;
    }
  }

  // Waits for each word that counts: on a GPU the threads share them, and each has the time for its own.
  template <class T>
  STARLING_HD wait_status wait_each_of(const several<T>& s, std::uint64_t limit_ns, int from, where at) const {
    const trace_span span(self(), trace_operation::wait, from, s.n, as_signal(s.first), widened(s.value));
    const std::uint64_t begin = limit_ns != 0 ? target::now_ns() : 0;
    gpu::wait_end end = gpu::wait_end::came;
    for (index_t i = self().member(); i < s.n && end == gpu::wait_end::came; i += self().members()) {
      if (!s.counts(i)) continue;
      wait_request w = request(operation::wait_until, s.first + i, s.how, s.wanted(i), from, at);
      if (limit_ns != 0) {
        const std::uint64_t gone = target::now_ns() - begin;
        w.limit_ns = gone < limit_ns ? limit_ns - gone : 1;
      }
      if constexpr (target::on_gpu)
        end = poll_word<T>(w);
      else if (!self().own_port().wait(w))
        end = gpu::wait_end::timed_out;
    }
    return together(end, operation::wait_until, at);
  }

  template <class T>
  STARLING_HD index_t wait_for_one(const several<T>& s, std::uint64_t limit_ns, int from, where at) const {
    index_t index = no_index;
    (void)wait_for_several(s, &index, 1, limit_ns, from, at);
    return self().first(index);
  }

  // Waits until a word compares, then writes the numbers of up to `most` that do. One may do so no longer when the
  // numbers are taken: then it waits again.
  template <class T>
  STARLING_HD index_t wait_for_several(const several<T>& s, index_t* indices, index_t most, std::uint64_t limit_ns,
                                       int from, where at) const {
    const trace_span span(self(), trace_operation::wait, from, s.n, as_signal(s.first), widened(s.value));
    const index_t named = s.first_that_counts();
    if (named == s.n) return 0;
    if constexpr (target::on_gpu) {
      for (gpu::patience rest(self().state(), false, limit_ns);;) {
        bool here = false;
        for (index_t i = self().member(); i < s.n && !here; i += self().members())
          here = s.counts(i) && holds_as(acquired((s.first + i).on(self().pe())), s.how, s.wanted(i));
        if (self().any(here, at)) {
          const index_t found = take_numbers(s, indices, most, at);
          if (found > 0) return found;
        }
        if (!self().any(rest.spent(), at)) continue;
        const bool ended = self().any(rest.ended(), at);
        if (limit_ns != 0 && !ended) return 0;
        if (leader()) {
          const T seen = acquired((s.first + named).on(self().pe()));
          gpu::give_up(self().state(), self().index(),
                       request(operation::wait_until_any, s.first + named, s.how, s.wanted(named), from, at),
                       ended ? block_state::waiting : block_state::expired, widened(seen));
        }
        self().sync();
        self().give_up();
      }
    } else {
      wait_request w = request(operation::wait_until_any, s.first, s.how, s.value, from, at);
      w.limit_ns = limit_ns;
      w.n = s.n;
      w.excluded = s.status;
      w.wanted_of = s.values;
      while (self().port().wait(w)) {
        const index_t found = collect(s, indices, most, at);
        if (found > 0) return found;
      }
      return 0;
    }
  }

  // On a GPU: one thread looks at them all, in order, and tells the others how many it has found.
  template <class T>
  STARLING_HD index_t take_numbers(const several<T>& s, index_t* indices, index_t most, where at) const {
    index_t found = 0;
    if (leader())
      for (index_t i = 0; i < s.n && found < most; ++i)
        if (s.counts(i) && holds_as(acquired((s.first + i).on(self().pe())), s.how, s.wanted(i))) indices[found++] = i;
    self().end_if_failed(false, operation::wait_until, at);
    return self().first(found);
  }

  // On a GPU, of the leader that has looked in vain: whether the program was ended elsewhere, which it has reported
  // then.
  template <class T>
  STARLING_HD bool gave_up(const several<T>& s, where at) const {
    const index_t named = s.first_that_counts();
    if (named == s.n || !gpu::program_ended(self().state())) return false;
    const T seen = acquired((s.first + named).on(self().pe()));
    gpu::give_up(self().state(), self().index(),
                 request(operation::wait_until, s.first + named, s.how, s.wanted(named), any_pe, at),
                 block_state::waiting, widened(seen));
    return true;
  }

  // Writes the numbers of up to `most` words that compare now; returns how many.
  template <class T>
  STARLING_HD index_t collect(const several<T>& s, index_t* indices, index_t most, where at) const {
    if constexpr (target::on_gpu) {
      const index_t found = take_numbers(s, indices, most, at);
      self().end_if_failed(found == 0 && leader() && gave_up(s, at), operation::wait_until, at);
      return found;
    } else {
      index_t found = 0;
      for (index_t i = 0; i < s.n && found < most; ++i) {
        if (!s.counts(i)) continue;
        if (!self().port().test(request(operation::wait_until, s.first + i, s.how, s.wanted(i), any_pe, at))) continue;
        if (leader()) indices[found] = i;
        ++found;
      }
      return found;
    }
  }

  template <class T>
  STARLING_HD index_t one_that_holds(const several<T>& s, where at) const {
    index_t index = no_index;
    (void)collect(s, &index, 1, at);
    return self().first(index);
  }

  template <class T>
  STARLING_HD bool all_hold(const several<T>& s, where at) const {
    bool all = true;
    if constexpr (target::on_gpu) {
      for (index_t i = self().member(); i < s.n && all; i += self().members())
        all = !s.counts(i) || holds_as(acquired((s.first + i).on(self().pe())), s.how, s.wanted(i));
      all = !self().any(!all, at);
      self().end_if_failed(!all && leader() && gave_up(s, at), operation::wait_until, at);
    } else {
      for (index_t i = 0; i < s.n && all; ++i)
        all = !s.counts(i) ||
              self().port().test(request(operation::wait_until, s.first + i, s.how, s.wanted(i), any_pe, at));
    }
    return all;
  }
};

}  // namespace starling
