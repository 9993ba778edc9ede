// OpenSHMEM's signals: puts that raise one when their data has arrived, calls that raise one alone, waits. A signal is
// a starling::signal or a 64-bit unsigned word of symmetric memory. Who and what is as in shmem/rma.hpp; waits have the
// deadline of the launch.
#pragma once

#include <concepts>

#include "starling/shmem/address.hpp"

namespace starling::shmem {

template <class Address>
concept signal_address = symmetric_address<Address> && (std::same_as<element_of<Address>, signal> ||
                                                        std::same_as<element_of<Address>, std::uint64_t>);

template <class Group, signal_address Signal>
STARLING_HD sym<signal> symmetric_signal(const Group& who, Signal sig, where at = where::current()) {
  const auto word = symmetric(who, sig, at);
  return {reinterpret_cast<signal*>(word.on(0)), word.stride_bytes()};
}

// ---- data, then its signal: who sees the signal sees the data of this call ----

template <class Group, symmetric_address Dest, signal_address Signal>
[[gnu::always_inline]] STARLING_HD inline void put_signal(const Group& who, Dest dest, const element_of<Dest>* source,
                                                          index_t n, Signal sig, std::uint64_t value, signal_op op,
                                                          int pe, where at = where::current()) {
  who.put_signal(symmetric(who, dest, at), source, n, symmetric_signal(who, sig, at), value, pe, op, at);
}
// The source must stay as it is until quiet().
template <class Group, symmetric_address Dest, signal_address Signal>
[[gnu::always_inline]] STARLING_HD inline void put_signal_nbi(const Group& who, Dest dest,
                                                              const element_of<Dest>* source, index_t n, Signal sig,
                                                              std::uint64_t value, signal_op op, int pe,
                                                              where at = where::current()) {
  who.put_signal_nbi(symmetric(who, dest, at), source, n, symmetric_signal(who, sig, at), value, pe, op, at);
}
template <class Group, symmetric_address Dest, signal_address Signal>
[[gnu::always_inline]] STARLING_HD inline void putmem_signal(const Group& who, Dest dest, const void* source,
                                                             index_t bytes, Signal sig, std::uint64_t value,
                                                             signal_op op, int pe, where at = where::current()) {
  put_signal(who, bytes_at(dest), bytes_at(source), bytes, sig, value, op, pe, at);
}
template <class Group, symmetric_address Dest, signal_address Signal>
[[gnu::always_inline]] STARLING_HD inline void putmem_signal_nbi(const Group& who, Dest dest, const void* source,
                                                                 index_t bytes, Signal sig, std::uint64_t value,
                                                                 signal_op op, int pe, where at = where::current()) {
  put_signal_nbi(who, bytes_at(dest), bytes_at(source), bytes, sig, value, op, pe, at);
}

// Adds the bytes that it delivers to a counter at `pe`, which several producers may share; the reader waits for bytes.
template <class Group, symmetric_address Dest, signal_address Signal>
[[gnu::always_inline]] STARLING_HD inline void put_counted(const Group& who, Dest dest, const element_of<Dest>* source,
                                                           index_t n, Signal counter, int pe,
                                                           where at = where::current()) {
  who.put_counted(symmetric(who, dest, at), source, n, symmetric_signal(who, counter, at), pe, at);
}

// ---- signals alone: puts are covered after fence() ----

template <class Group, signal_address Signal>
STARLING_HD void signal_set(const Group& who, Signal sig, std::uint64_t value, int pe, where at = where::current()) {
  who.signal_set(symmetric_signal(who, sig, at), value, pe, at);
}
template <class Group, signal_address Signal>
STARLING_HD void signal_add(const Group& who, Signal sig, std::uint64_t value, int pe, where at = where::current()) {
  who.signal_add(symmetric_signal(who, sig, at), value, pe, at);
}

// ---- at home ----

// The signal's value now; who has it sees what came with it.
template <class Group, signal_address Signal>
STARLING_HD std::uint64_t signal_fetch(const Group& who, Signal sig, where at = where::current()) {
  const sym<signal> s = symmetric_signal(who, sig, at);
  const sym<std::uint64_t> word(&s.on(0)->value, s.stride_bytes());
  return who.atomic_fetch(word, who.pe(), cuda::memory_order_acquire, at);
}

// Waits until the signal compares so; the value that did. `from`: who is to raise it, for reports.
template <class Group, signal_address Signal>
STARLING_HD std::uint64_t signal_wait_until(const Group& who, Signal sig, compare how, std::uint64_t value,
                                            int from = any_pe, where at = where::current()) {
  const sym<signal> s = symmetric_signal(who, sig, at);
  if constexpr (target::on_gpu) {
    const trace_span span(who, trace_operation::wait, from, 1, s, value);
    std::uint64_t seen = 0;
    bool failed = false;
    if (who.member() == 0) {
      const wait_request request{s.on(who.pe()), how, value, from, operation::wait, at};
      const auto word = gpu::system_atomic(s.on(who.pe())->value);
      failed =
          !gpu::poll(who.state(), who.index(), request, [&] { return seen = word.load(cuda::memory_order_acquire); });
    }
    who.end_if_failed(failed, operation::wait, at);
    return who.first(seen);
  } else {
    who.wait(s, how, value, from, at);
    if (how == compare::eq) return value;
    // Signals only grow: what is there now compares as what was waited for, but for `ne` and bounds from above.
    return signal_fetch(who, s, at);
  }
}

}  // namespace starling::shmem
