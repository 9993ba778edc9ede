// put, put_signal and get of a block by way of its bulk buffer. Mixin for block. Small pieces, and pieces that do not
// begin at whole 16 bytes on both sides, go as without a buffer. Meanings are those of the calls without a buffer.
#pragma once

#include "starling/device/bulk_buffer.hpp"
#include "starling/device/communication.hpp"
#include "starling/device/messages.hpp"

namespace starling {

template <class Self>
class bulk_transfer {
 public:
  // On return the source may be reused and the data has arrived.
  template <class T>
  STARLING_HD void put(bulk_buffer& via, sym<T> dest, const std::type_identity_t<T>* source, index_t n, int pe,
                       where at = where::current()) {
    if (moves_on_its_own(via, dest, source, n, pe, operation::put, at)) {
      const trace_span span(self(), trace_operation::put, pe, n * static_cast<index_t>(sizeof(T)));
      move(via, dest.on(pe), source, n, pe, operation::put, at);
    } else {
      self().put(dest, source, n, pe, at);
    }
  }

  template <class T>
  STARLING_HD void put_signal(bulk_buffer& via, sym<T> dest, const std::type_identity_t<T>* source, index_t n,
                              sym<signal> sig, std::uint64_t value, int pe, signal_op op = signal_op::set,
                              where at = where::current()) {
    if (moves_on_its_own(via, dest, source, n, pe, operation::put, at)) {
      const trace_span span(self(), trace_operation::put_signal, pe, n * static_cast<index_t>(sizeof(T)), sig, value,
                            op);
      move(via, dest.on(pe), source, n, pe, operation::put, at);
      self().raise_signal(sig, value, op, pe, at);
    } else {
      self().put_signal(dest, source, n, sig, value, pe, op, at);
    }
  }

  template <class T>
  STARLING_HD void get(bulk_buffer& via, std::type_identity_t<T>* dest, sym<T> source, index_t n, int pe,
                       where at = where::current()) {
    if (moves_on_its_own(via, source, dest, n, pe, operation::get, at)) {
      const trace_span span(self(), trace_operation::get, pe, n * static_cast<index_t>(sizeof(T)));
      move(via, dest, source.on(pe), n, pe, operation::get, at);
    } else {
      self().get(dest, source, n, pe, at);
    }
  }

  // messages::send by way of the buffer, where the message is long enough; the receiver sees no difference.
  template <class T>
  STARLING_HD void send(bulk_buffer& via, const channel<T>& c, const std::type_identity_t<T>* source, index_t n,
                        std::uint64_t number, int pe, where at = where::current()) {
    const bool enough = n * static_cast<index_t>(sizeof(T)) >= bulk_from || c.how() == protocol::bulk;
    if (!target::on_gpu || !enough || c.uses_packets(n, pe == self().pe()))
      return self().send(c, source, n, number, pe, at);
    self().check_message(c, n, number, at);
    put_signal(via, c.data_of(number), source, n, c.arrived_of(number), number, pe, signal_op::set, at);
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  template <class T>
  STARLING_HD bool moves_on_its_own(const bulk_buffer&, sym<T> there, const T* here, index_t n, int pe, operation op,
                                    where at) const {
    static_assert(std::is_trivially_copyable_v<T>, "put moves trivially copyable types");
    if constexpr (!target::on_gpu) return false;
    self().check_peer(pe, op, at);
    if (self().behind_card(pe)) return false;
    return bulk_buffer::suits(there.on(pe), here, n * static_cast<index_t>(sizeof(T)));
  }

  // What is left over behind whole 16 bytes is copied by the other threads meanwhile. Ends with a barrier.
  template <class T>
  STARLING_HD void move(bulk_buffer& via, T* dest, const T* source, index_t n, int pe, operation op, where at) {
    constexpr index_t word = 16;
    const index_t bytes = n * static_cast<index_t>(sizeof(T));
    const index_t whole = bytes / word * word;
    target::fence_bulk();
    self().sync();
    bool good = true;
    if (self().member() == 0)
      good = gpu::bulk_copy(self().state(), self().index(), via, dest, source, whole, pe, at);
    else if (self().member() == 1)
      memcpy(reinterpret_cast<std::byte*>(dest) + whole, reinterpret_cast<const std::byte*>(source) + whole,
             static_cast<std::size_t>(bytes - whole));
    via.count(ceil_div(whole, static_cast<index_t>(bulk_stage_bytes)));
    self().end_if_failed(!good, op, at);
  }
};

}  // namespace starling
