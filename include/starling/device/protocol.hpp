// How a message travels, and which way is taken for which size. Both ends of a channel ask the same plain function, so
// that they agree without a word. The limits are where the measured times cross; see docs/how_it_works.md.
#pragma once

#include <cstdint>

#include "starling/base/index.hpp"

namespace starling {

enum class protocol : std::int32_t {
  automatic,  // by size: protocol_for
  packets,    // data and number in each 16 bytes: no fence, one flight, twice the bytes
  stores,     // stores of 16 bytes, then one release of a signal
  bulk,  // the copy engine of the block's multiprocessor, then one release; the receiver sees no difference to stores
};

constexpr const char* name(protocol p) {
  switch (p) {
    case protocol::automatic:
      return "automatic";
    case protocol::packets:
      return "packets";
    case protocol::stores:
      return "stores";
    case protocol::bulk:
      return "bulk";
  }
  return "?";
}

// Messages of up to so many bytes are packets. To another GPU a fence costs more than a flight, so packets win until
// twice the bytes take longer than it; on one's own GPU a fence is cheap.
inline constexpr index_t packets_up_to_other_pe = 16 * 1024;
inline constexpr index_t packets_up_to_own_pe = 4 * 1024;

// From so many bytes on a block that has a bulk buffer uses it: below, filling the pipeline takes longer than it saves.
inline constexpr index_t bulk_from = 64 * 1024;

// How a message of so many bytes announces itself: as packets, or by a signal behind its data.
constexpr protocol protocol_for(index_t bytes, bool own_pe, protocol wanted = protocol::automatic) {
  if (wanted != protocol::automatic) return wanted;
  return bytes <= (own_pe ? packets_up_to_own_pe : packets_up_to_other_pe) ? protocol::packets : protocol::stores;
}

}  // namespace starling
