// Sending and receiving over channels. Mixin for block, warp and thread, beside communication: every call is a
// collective of the group. See channel.hpp for numbers and credits. A message longer than the channel's capacity, a
// negative length and the number 0 end the program; the host throws range_error.
#pragma once

#include "starling/base/error.hpp"
#include "starling/base/view.hpp"
#include "starling/device/channel.hpp"
#include "starling/device/packet_exchange.hpp"

namespace starling {

// What the host throws for a message that a channel cannot carry.
inline std::string refused_message(std::int64_t n, std::uint64_t capacity, std::uint64_t number) {
  if (number == 0) return "message number 0; messages are numbered from 1";
  if (static_cast<std::int64_t>(capacity) < 0)
    return "a lane that the channel does not have; lane(i) takes 0 to lanes() - 1, and channel_options::lanes says how "
           "many there are";
  return message("message ", number, " has ", n, " elements, the channel carries 0 to ", capacity,
                 "; give machine::allocate_channel a larger capacity, or send several messages");
}
[[noreturn]] inline void refuse_message(int pe, int block, std::int64_t n, std::uint64_t capacity, std::uint64_t number,
                                        where at) {
  throw range_error(message(name(operation::channel), " at ", at.file, ":", at.line, " (PE ", pe, " block ", block,
                            "): ", refused_message(n, capacity, number)));
}

template <class Self>
class messages {
 public:
  // Sends n elements as message `number` to `pe`. On return the source may be reused. The receiver sees this message's
  // data and nothing else that was written before. The slot must be free: see await_credit.
  template <class T>
  STARLING_HD void send(const channel<T>& c, const std::type_identity_t<T>* source, index_t n, std::uint64_t number,
                        int pe, where at = where::current()) const {
    check_message(c, n, number, at);
    if (c.uses_packets(n, pe == self().pe())) {
      send_words<T>(c, [=](index_t i) { return source[i]; }, n, number, pe, at);
      self().sync();
    } else {
      send_stores(c, source, n, number, pe, at);
    }
  }

  // As above with f(i) as element i; f may be called several times for an element. Without a barrier.
  template <class T, element_source<T> F>
  STARLING_HD void send(const channel<T>& c, const F& f, index_t n, std::uint64_t number, int pe,
                        where at = where::current()) const {
    check_message(c, n, number, at);
    if (c.uses_packets(n, pe == self().pe()))
      send_words<T>(c, f, n, number, pe, at);
    else
      send_stores(c, f, n, number, pe, at);
  }

  // Waits, with a deadline, for message `number` of n elements from PE `from`. Its elements, for all threads of the
  // group, until give_credit.
  template <class T>
  STARLING_HD view<const T, 1> receive(const channel<T>& c, index_t n, std::uint64_t number, int from,
                                       where at = where::current()) const {
    check_message(c, n, number, at);
    T* data = c.data_of(number).on(self().pe());
    if (c.uses_packets(n, from == self().pe())) {
      auto* words = reinterpret_cast<unsigned char*>(data);
      take_words(
          c.packets_of(number), words_for<T>(n), number, from,
          [&](index_t k, std::uint64_t word) { memcpy(words + 8 * k, &word, 8); }, at);
      self().end_if_absent(operation::channel, at);
    } else {
      self().wait(c.arrived_of(number), number, from, at);
    }
    return view<const T, 1>(data, n);
  }

  // The same with use(i, element) for each element as it comes, called by the thread that took it: threads that have
  // their elements go on. The group's barrier is left to the caller.
  template <class T, class Use>
  STARLING_HD void receive_each(const channel<T>& c, index_t n, std::uint64_t number, int from, const Use& use,
                                where at = where::current()) const {
    if constexpr (8 % sizeof(T) == 0) {
      if (c.uses_packets(n, from == self().pe())) {
        check_message(c, n, number, at);
        constexpr index_t each = static_cast<index_t>(8 / sizeof(T));
        take_words(
            c.packets_of(number), words_for<T>(n), number, from,
            [&](index_t k, std::uint64_t word) {
              for (index_t e = 0; e < each && k * each + e < n; ++e) {
                T value;
                memcpy(&value, reinterpret_cast<const unsigned char*>(&word) + e * sizeof(T), sizeof(T));
                use(k * each + e, value);
              }
            },
            at);
        return;
      }
    }
    const view<const T, 1> all = receive(c, n, number, from, at);
    self().for_each(n, [&](index_t i) { use(i, all(i)); });
  }

  // The receiver: all threads of the group have read message `number` of PE `from`, and those before it; their slots
  // may be overwritten.
  template <class T>
  STARLING_HD void give_credit(const channel<T>& c, std::uint64_t number, int from, where at = where::current()) const {
    self().check_peer(from, operation::put, at);
    if constexpr (target::on_gpu) renew(c, number);
    self().signal_set(c.taken_by(self().pe()), number, from, at);
  }

  // The sender: waits, with a deadline, until message `number` may be sent to `pe`.
  template <class T>
  STARLING_HD void await_credit(const channel<T>& c, std::uint64_t number, int pe, where at = where::current()) const {
    self().check_peer(pe, operation::wait, at);
    const auto slots = static_cast<std::uint64_t>(c.slots());
    if (number > slots) self().wait(c.taken_by(pe), number - slots, pe, at);
  }

  // For calls that are made of these. Ends the program for a message that the channel cannot carry.
  template <class T>
  STARLING_HD void check_message(const channel<T>& c, index_t n, std::uint64_t number, where at) const {
    if (n >= 0 && n <= c.capacity() && number != 0) return;
    if constexpr (target::on_gpu) {
      if (self().member() == 0) gpu::refuse_message(self().state(), self().index(), n, c.capacity(), number, at);
      self().sync();
      self().give_up();
    } else {
      refuse_message(self().pe(), self().index(), n, static_cast<std::uint64_t>(c.capacity()), number, at);
    }
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  template <class T, class F>
  STARLING_HD void send_words(const channel<T>& c, const F& f, index_t n, std::uint64_t number, int pe,
                              where at) const {
    using content = packet_content<std::uint64_t>;
    self().template put_packets<std::uint64_t>(
        c.packets_of(number), [&](index_t k) { return content{{word_of_message<T>(f, n, k)}}; }, words_for<T>(n),
        number, pe, at);
  }

  template <class T>
  STARLING_HD void send_stores(const channel<T>& c, const T* source, index_t n, std::uint64_t number, int pe,
                               where at) const {
    if constexpr (target::on_gpu)
      self().put_signal(c.data_of(number), source, n, c.arrived_of(number), number, pe, signal_op::set, at);
    else
      deliver(c, source, n, number, pe, at);
  }
  template <class T, element_source<T> F>
  STARLING_HD void send_stores(const channel<T>& c, const F& f, index_t n, std::uint64_t number, int pe,
                               where at) const {
    if constexpr (target::on_gpu) {
      self().put_signal(c.data_of(number), f, n, c.arrived_of(number), number, pe, signal_op::set, at);
    } else {
      T* staged = reinterpret_cast<T*>(self().port().staging(static_cast<std::size_t>(n) * sizeof(T)));
      for (index_t i = self().member(); i < n; i += self().members()) staged[i] = f(i);
      deliver(c, staged, n, number, pe, at);
    }
  }

  // A virtual device's put with a signal that tells of its own data alone: no more than packets would, so that check
  // mode finds who relies on more.
  template <class T>
  void deliver(const channel<T>& c, const T* source, index_t n, std::uint64_t number, int pe, where at) const {
    self().check_peer(pe, operation::put, at);
    const sym<signal> arrived = c.arrived_of(number);
    const trace_span span(self(), trace_operation::put_signal, pe, n * static_cast<index_t>(sizeof(T)), arrived, number,
                          signal_op::set);
    self().port().put_signal(
        {c.data_of(number).on(pe), source, n, sizeof(T), 1, 1, pe, true, at, unknown_bytes, self().context_number()},
        {arrived.on(pe), signal_op::set, number, pe, at, false, self().context_number()});
  }

  // use(k, word k) for each word, by the thread that took it. Several packets at once: each look at one takes long.
  template <class Use>
  STARLING_HD void take_words(sym<packet> packets, index_t words, std::uint64_t number, int from, const Use& use,
                              where at) const {
    using content = packet_content<std::uint64_t>;
    constexpr int at_once = 4;
    const index_t members = self().members();
    for (index_t first = self().member(); first < words; first += at_once * members)
      self().template take_packets<std::uint64_t, at_once>(
          [&](auto i) { return first + i * members < words; }, [&](auto i) { return packets + (first + i * members); },
          number, [&](auto) { return from; }, [&](auto i, const content& c) { use(first + i * members, c.element[0]); },
          at);
  }

  // GPUs compare the lower halves of numbers. So that no packet of long ago looks like one of now, the receiver sets
  // all packets of a slot to a number of today, once in 2^31 messages.
  template <class T>
  STARLING_HD void renew(const channel<T>& c, std::uint64_t number) const {
    const auto slots = static_cast<std::uint64_t>(c.slots());
    if (number < slots || number >> 31 == (number - slots) >> 31) return;
    packet* slot = c.packets_of(number).on(self().pe());
    for (index_t k = self().member(); k < c.packets_per_slot(); k += self().members())
      target::store_numbered(slot + k, {0, number});
  }
};

}  // namespace starling
