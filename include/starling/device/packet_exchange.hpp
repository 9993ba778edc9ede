// Sending and receiving packets. Mixin for block, warp and thread, beside communication.
#pragma once

#include "starling/device/communication.hpp"
#include "starling/device/loops.hpp"
#include "starling/device/packet.hpp"

namespace starling {

template <class Self>
class packet_exchange {
 public:
  // Stores `packets` packets with this number at `pe`, f(k) being the content of packet k; f is called once for each. A
  // collective of the group, without a barrier: threads return when their own packets are on their way. The number must
  // differ from what the packets held before, and the receiver must have taken those.
  template <class T, element_source<packet_content<T>> F>
  STARLING_HD void put_packets(sym<packet> dest, const F& f, index_t packets, std::uint64_t number, int pe,
                               where at = where::current()) const {
    self().check_peer(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put_packets, pe, 8 * packets, number_of(dest), number);
    for (index_t k = self().member(); k < packets; k += self().members())
      put_packet(dest + k, f(k).as_data(), number, pe, at);
  }

  // As put_packets with one packet of each thread: for those that pass `mine`, with f() as content.
  template <class T, class F>
  STARLING_HD void put_packet_each(bool mine, sym<packet> dest, const F& f, std::uint64_t number, int pe,
                                   where at = where::current()) const {
    self().check_peer(pe, operation::put, at);
    const trace_span span(self(), trace_operation::put_packets, pe, 8, number_of(dest), number);
    if (!mine) return;
    const packet_content<T> c = f();
    put_packet(dest, c.as_data(), number, pe, at);
  }

  // The content of a packet of this PE once it has come with this number; the calling thread alone waits, with a
  // deadline, and no other memory access is ordered. `from` is the sender, for reports.
  template <class T>
  STARLING_HD packet_content<T> take_packet(sym<packet> source, std::uint64_t number, int from = any_pe,
                                            where at = where::current()) const {
    const trace_span span(self(), trace_operation::take_packet, from, 1, number_of(source), number);
    std::uint64_t data = 0;
    if (!await_packet(operation::wait, source, number, from, at, data)) self().give_up();
    return packet_content<T>::of_data(data);
  }

  // The same for those of N packets for which wanted(i): packet i is source(i), sent by PE from(i), and use(i, content)
  // is called for each. i is a compile-time constant. On a GPU their loads run together, so that all of them take
  // little longer than one.
  template <class T, int N, class Wanted, class Source, class From, class Use>
  STARLING_HD void take_packets(const Wanted& wanted, const Source& source, std::uint64_t number, const From& from,
                                const Use& use, where at = where::current()) const {
    take_all_of<T, N>(wanted, source, number, from, use, at, [](bool missing) { return missing; });
  }

  // The same as a collective of the group: none of its threads returns before all have theirs, and those of a warp stay
  // together, which makes what they do next faster on a GPU.
  template <class T, int N, class Wanted, class Source, class From, class Use>
  STARLING_HD void take_packets_together(const Wanted& wanted, const Source& source, std::uint64_t number,
                                         const From& from, const Use& use, where at = where::current()) const {
    take_all_of<T, N>(wanted, source, number, from, use, at, [&](bool missing) { return self().any(missing, at); });
  }

 protected:
  // Takes a packet as part of `op`, which a stall report names. Returns false, report filed, when the program has
  // ended: on a GPU the caller ends its group's threads.
  STARLING_HD bool await_packet(operation op, sym<packet> source, std::uint64_t number, int from, where at,
                                std::uint64_t& data) const {
    const packet* local = source.on(self().pe());
    const wait_request request{&local->number, compare::eq, number, from, op, at};
    if constexpr (target::on_gpu) {
      return gpu::poll(self().state(), self().index(), request, [&] {
        const target::numbered seen = target::load_numbered(local, number);
        data = seen.data;
        return seen.number;
      });
    } else {
      self().own_port().wait(request);
      data = local->data;
      return true;
    }
  }

  // `orders`: the caller has fenced what the block wrote before, so that the number covers it too.
  STARLING_HD void put_packet(sym<packet> dest, std::uint64_t data, std::uint64_t number, int pe, where at,
                              [[maybe_unused]] bool orders = false) const {
    packet* to = dest.on(pe);
    if constexpr (target::on_gpu) {
      if (!self().behind_card(pe)) return target::store_numbered(to, {data, number});
      const target::numbered_words w = target::words_of_numbered({data, number});
      const std::uint64_t words[2] = {w.low, w.high};
      const bool good = network::request(self(), [&](auto card) {
        return card.put_words(self().state(), self().index(), self().context_number(), pe,
                              reinterpret_cast<std::uint64_t*>(to), words, 2, at);
      });
      if (!good) self().give_up();
    } else {
      self().own_port().put_signal(
          {&to->data, &data, 1, sizeof data, 1, 1, pe, true, at, unknown_bytes, self().context_number()},
          {&to->number, signal_op::set, number, pe, at, orders, self().context_number()});
    }
  }

 private:
  // any(whether this thread misses some): whether to go on waiting.
  template <class T, int N, class Wanted, class Source, class From, class Use, class Any>
  STARLING_HD void take_all_of(const Wanted& wanted, const Source& source, std::uint64_t number, const From& from,
                               const Use& use, where at, const Any& any) const {
    if constexpr (target::on_gpu) {
      const trace_span span(self(), trace_operation::take_packet, any_pe, N);
      target::numbered seen[N];
      const packet* local[N];
      unrolled<N>([&](auto i) {
        seen[i].number = wanted(i) ? number - 1 : number;
        local[i] = source(i).on(self().pe());
      });
      // No function is called but on the way out: the compiler would no longer know that the threads are together.
      for (gpu::patience rest(self().state());;) {
        bool misses = false;
        unrolled<N>([&](auto i) {
          if (seen[i].number != number) seen[i] = target::load_numbered(local[i], number);
          misses = misses || seen[i].number != number;
        });
        if (!any(misses)) break;
        if (!any(rest.spent())) continue;
        unrolled<N>([&](auto i) {
          if (!misses || seen[i].number == number) return;
          const wait_request request{&local[i]->number, compare::eq, number, from(i), operation::wait, at};
          gpu::give_up(self().state(), self().index(), request, rest.why(), seen[i].number);
          misses = false;
        });
        self().give_up();
      }
      unrolled<N>([&](auto i) {
        if (wanted(i)) use(i, packet_content<T>::of_data(seen[i].data));
      });
    } else {
      unrolled<N>([&](auto i) {
        if (wanted(i)) use(i, take_packet<T>(source(i), number, from(i), at));
      });
    }
  }

  STARLING_HD static sym<signal> number_of(sym<packet> p) { return {&p.on(0)->number, p.stride_bytes()}; }

  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace starling
