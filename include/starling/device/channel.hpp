// channel<T>: numbered messages from one PE to another, each sent the way that is fastest for its size. A channel is
// the same on every PE: there a receive buffer of so many slots, here the credits that receivers have given. Plain
// data, for kernels; made by machine::allocate_channel.
//
// Numbers. The messages from one PE to another are numbered from 1, without gaps; message k lies in slot k % slots of
// the receiver. Both ends name its number, its length and each other.
//
// Credits. Message k overwrites message k - slots, so it must not be sent before the receiver has read that one. The
// receiver says so with give_credit(k - slots); the sender waits for it with await_credit(k). send() waits for nothing:
// where the two ends answer each other, an answer is a credit too, and a second one would be paid for in vain. Without
// give_credit for each message a channel carries less than 2^32 of them.
//
// Lanes. A channel may have several, each with slots and numbers of its own: for several senders to one PE (lane =
// sender), or several blocks. At any time one group sends on a lane to a PE, and one group receives.
#pragma once

#include "starling/device/packet.hpp"
#include "starling/device/protocol.hpp"
#include "starling/device/symmetric.hpp"

namespace starling {

template <class T>
class channel {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "a channel carries trivially copyable types");

  // Where the parts of lane 0 lie, and how many of each a slot has.
  struct parts {
    sym<packet> packets;     // [lanes][slots][packets_per_slot]
    sym<std::byte> data;     // [lanes][slots][slot_bytes], whole words of 16
    sym<signal> arrived;     // [lanes][slots] number of the message whose data has arrived
    sym<signal> taken;       // [lanes][n_pes] number of the last message that the PE has read
    index_t capacity = 0;    // elements of the longest message
    index_t slot_bytes = 0;  // of one message
    index_t packets_per_slot = 0;
    int slots = 1;
    int lanes = 1;
    int n_pes = 1;
    protocol how = protocol::automatic;
  };

  // The capacity of a lane that is not there.
  static constexpr index_t no_lane = -1;

  constexpr channel() = default;
  STARLING_HD explicit channel(const parts& p) : p_(p) {}

  STARLING_HD index_t capacity() const { return p_.capacity; }
  STARLING_HD int slots() const { return p_.slots; }
  STARLING_HD int lanes() const { return p_.lanes; }

  // The channel whose lane 0 is lane i of this one; 0 <= i < lanes(). For another i it carries no message: those who
  // send or receive by it end the program with range_error.
  STARLING_HD channel lane(int i) const {
    channel c = *this;
    const index_t first = static_cast<index_t>(i) * p_.slots;
    c.p_.packets += first * p_.packets_per_slot;
    c.p_.data += first * p_.slot_bytes;
    c.p_.arrived += first;
    c.p_.taken += static_cast<index_t>(i) * p_.n_pes;
    c.p_.lanes = p_.lanes - i;
    if (i < 0 || i >= p_.lanes) c.p_.capacity = no_lane;
    return c;
  }

  // How a message of n elements announces itself.
  STARLING_HD bool uses_packets(index_t n, bool own_pe) const {
    return protocol_for(n * static_cast<index_t>(sizeof(T)), own_pe, p_.how) == protocol::packets;
  }
  STARLING_HD protocol how() const { return p_.how; }

  // ---- for the calls ----

  STARLING_HD sym<packet> packets_of(std::uint64_t number) const {
    return p_.packets + slot_of(number) * p_.packets_per_slot;
  }
  STARLING_HD index_t packets_per_slot() const { return p_.packets_per_slot; }
  STARLING_HD sym<T> data_of(std::uint64_t number) const {
    const sym<std::byte> start = p_.data + slot_of(number) * p_.slot_bytes;
    return {reinterpret_cast<T*>(start.on(0)), start.stride_bytes()};
  }
  STARLING_HD sym<signal> arrived_of(std::uint64_t number) const { return p_.arrived + slot_of(number); }
  STARLING_HD sym<signal> taken_by(int pe) const { return p_.taken + pe; }

 private:
  STARLING_HD index_t slot_of(std::uint64_t number) const {
    return static_cast<index_t>(number % static_cast<std::uint64_t>(p_.slots));
  }

  parts p_;
};

// Messages travel as words of 8 bytes; one of no elements is a word without meaning.
template <class T>
constexpr index_t words_for(index_t n) {
  const index_t words = ceil_div(n * static_cast<index_t>(sizeof(T)), 8);
  return words > 0 ? words : 1;
}

// Word k of a message whose element i is f(i).
template <class T, class F>
STARLING_HD std::uint64_t word_of_message(const F& f, index_t n, index_t k) {
  constexpr index_t size = static_cast<index_t>(sizeof(T));
  std::uint64_t word = 0;
  auto* to = reinterpret_cast<unsigned char*>(&word);
  if constexpr (8 % size == 0) {
    constexpr index_t each = 8 / size;
    for (index_t e = 0; e < each; ++e)
      if (k * each + e < n) {
        const T value = f(k * each + e);
        memcpy(to + e * size, &value, sizeof(T));
      }
  } else {  // an element begins before the word, or ends behind it
    for (index_t i = 8 * k / size; i < n && i * size < 8 * k + 8; ++i) {
      const T value = f(i);
      const auto* from = reinterpret_cast<const unsigned char*>(&value);
      for (index_t byte = 0; byte < size; ++byte) {
        const index_t at = i * size + byte - 8 * k;
        if (at >= 0 && at < 8) to[at] = from[byte];
      }
    }
  }
  return word;
}

}  // namespace starling
