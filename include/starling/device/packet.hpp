// Packets: 8 bytes of data and the number of the message they belong to, in one 16-byte store. Who sees the number has
// the data, so a message needs no fence and no signal and arrives after one flight. For small messages: half of what
// travels is numbers. On a GPU the 16 bytes are laid out as target::numbered says; only calls look inside.
#pragma once

#include <bit>
#include <cstring>

#include "starling/base/index.hpp"
#include "starling/device/signal.hpp"
#include "starling/device/target.hpp"

namespace starling {

struct alignas(16) packet {
  std::uint64_t data = 0;
  signal number;
};
static_assert(sizeof(packet) == 16);

// Elements of T that one packet carries, and packets for n elements.
template <class T>
inline constexpr index_t elements_per_packet = static_cast<index_t>(8 / sizeof(T));

template <class T>
constexpr index_t packets_for(index_t n) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "packets carry elements of 4 or 8 bytes");
  return ceil_div(n, elements_per_packet<T>);
}

// What a packet carries.
template <class T>
struct packet_content {
  T element[elements_per_packet<T>];

  STARLING_HD std::uint64_t as_data() const {
    std::uint64_t data;
    memcpy(&data, element, sizeof data);
    return data;
  }
  STARLING_HD static packet_content of_data(std::uint64_t data) {
    packet_content c;
    memcpy(c.element, &data, sizeof data);
    return c;
  }
};

}  // namespace starling
