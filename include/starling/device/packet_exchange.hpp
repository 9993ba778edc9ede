// Sending and receiving packets. Mixin for block, warp and thread, beside communication.
#pragma once

#include "starling/device/communication.hpp"
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
    for (index_t k = self().member(); k < packets; k += self().members())
      put_packet(dest + k, f(k).as_data(), number, pe, at);
  }

  // The content of a packet of this PE once it has come with this number; the calling thread alone waits, with a
  // deadline, and no other memory access is ordered. `from` is the sender, for reports.
  template <class T>
  STARLING_HD packet_content<T> take_packet(sym<packet> source, std::uint64_t number, int from,
                                            where at = where::current()) const {
    return take_packet_as<T>(operation::wait, source, number, from, at);
  }

 protected:
  // Takes a packet as part of `op`, which a stall report names.
  template <class T>
  STARLING_HD packet_content<T> take_packet_as(operation op, sym<packet> source, std::uint64_t number, int from,
                                               where at) const {
    const packet* local = source.on(self().pe());
    if constexpr (target::on_gpu) {
      target::pair64 seen;
      const auto look = [&] {
        seen = target::load_pair(local);
        return seen.second;
      };
      if (!gpu::poll(self().state(), self().index(), request_for(local, number, op, from, at), look))
        target::exit_thread();
      return packet_content<T>::of_data(seen.first);
    } else {
      self().port().wait(request_for(local, number, op, from, at));
      return packet_content<T>::of_data(local->data);
    }
  }

  STARLING_HD void put_packet(sym<packet> dest, std::uint64_t data, std::uint64_t number, int pe, where at) const {
    packet* to = dest.on(pe);
    if constexpr (target::on_gpu) {
      target::store_pair(to, {data, number});
    } else {
      self().port().put_signal({&to->data, &data, 1, sizeof data, 1, 1, pe, true, at},
                               {&to->number, signal_op::set, number, pe, at});
    }
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }

  STARLING_HD static wait_request request_for(const packet* p, std::uint64_t number, operation op, int from, where at) {
    return {&p->number, compare::eq, number, from, op, at};
  }
};

}  // namespace starling
