// Halos of a generated program that travel as packets: the sender's threads store the elements of a box, each with the
// number of the message, into slots at the receiver, whose threads take them from there into the halo. There is no
// fence and no signal. For short halos: twice the bytes travel, and they are stored twice.
//
// Messages of a channel go to two sets of slots by turns, so that a sender may be a message ahead of its receiver.
#pragma once

#include "starling/program/exchange.hpp"

namespace starling::generated {

// The slots of a channel, in a program's words: `room` in each set of each block that sends, one after the other.
struct packet_place {
  index_t first;
  index_t room;

  // The first slot of a message.
  STARLING_HD index_t of(std::uint64_t number, int block = 0) const {
    return first + (2 * block + static_cast<int>(number % 2)) * room;
  }
};
static_assert(sizeof(packet_place) == 16);

namespace detail {

// Where the elements of a box lie, along its axes up to the last that it does not have all of.
template <int Last>
struct box_shape {
  int run;  // elements in one piece
  int count[Last + 1];
  index_t stride[Last + 1];

  template <class T, int Rank>
  STARLING_HD box_shape(const array<T, Rank>& a, const box<Rank>& x)
      : run(static_cast<int>(x.count[Last] * a.stride(Last))) {
    for (int k = 0; k < Last; ++k) {
      count[k] = static_cast<int>(x.count[k]);
      stride[k] = a.stride(k);
    }
  }

  STARLING_HD int elements() const {
    int n = run;
    for (int k = 0; k < Last; ++k) n *= count[k];
    return n;
  }
  STARLING_HD index_t offset_of(int i) const {
    if constexpr (Last == 0) return i;
    index_t offset = i % run;
    int piece = i / run;
    for (int k = Last - 1; k >= 0; --k) {
      offset += piece % count[k] * stride[k];
      piece /= count[k];
    }
    return offset;
  }
};

// f(e, i) for the elements i of packet k, e being their number in it.
template <class T, class F>
STARLING_HD void each_in_packet(index_t k, int elements, const F& f) {
  unrolled<static_cast<int>(elements_per_packet<T>)>([&](auto e) {
    const int i = static_cast<int>(k * elements_per_packet<T>) + e;
    if (i < elements) f(e, i);
  });
}

// Out of line, as all puts.
template <class T, int Last>
__attribute__((noinline)) STARLING_HD void put_as_packets(block_parts parts, const T* source, box_shape<Last> shape,
                                                          sym<packet> slots, std::uint64_t number, int pe, where at) {
  const int n = shape.elements();
  const auto content = [&](index_t k) {
    packet_content<T> c{};
    each_in_packet<T>(k, n, [&](auto e, int i) { c.element[e] = source[shape.offset_of(i)]; });
    return c;
  };
  parts.with_block([&](block& b) { b.put_packets<T>(slots, content, packets_for<T>(n), number, pe, at); });
}

}  // namespace detail

// A box to a PE, where take_packets waits for it. `Last`: as of put_box. Threads return when what they store is on its
// way.
template <int Last, class T, int Rank>
STARLING_HD void put_packets(block& b, const array<T, Rank>& a, const box<Rank>& x, sym<packet> slots,
                             std::uint64_t number, int pe, where at = where::current()) {
  detail::put_as_packets(detail::block_parts(b), a.address(x.from), detail::box_shape<Last>(a, x), slots, number, pe,
                         at);
}

// Fills a halo with what a PE has sent with this number; nothing was sent with number 0. A message may be taken again
// until the one after the next is sent. What the block has read of the halo is behind it when the first packet is
// stored there, and all of them are there when it goes on.
template <int Last, class T, int Rank>
STARLING_HD void take_packets(block& b, const array<T, Rank>& a, const box<Rank>& halo, sym<packet> slots,
                              std::uint64_t number, int pe, where at = where::current()) {
  if (number == 0) return;
  const detail::box_shape<Last> shape(a, halo);
  T* to = a.address(halo.from);
  const int n = shape.elements();
  b.sync(at);
  for (index_t k = b.member(); k < packets_for<T>(n); k += b.members()) {
    const packet_content<T> c = b.thread().template take_packet<T>(slots + k, number, pe, at);
    detail::each_in_packet<T>(k, n, [&](auto e, int i) { to[shape.offset_of(i)] = c.element[e]; });
  }
  b.sync(at);
}

}  // namespace starling::generated
