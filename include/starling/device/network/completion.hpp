// Completions (CQE): what a card says of an entry, 64 bytes, big-endian. Of word 6 the last byte but one is the
// vendor's code and the last the status; word 7 is the queue's number (in the last 24 of its first 32 bits), the
// entry's index (16), a signature (8), and the kind (4) and owner (4).
//
// The owner bit says whether a completion is new: the card writes 0 in its first round through the completion queue, 1
// in the second, and so on, so that nothing has to be cleared.
#pragma once

#include "starling/device/network/entry.hpp"

namespace starling::network {

struct alignas(64) completion {
  std::uint64_t word[8];
};

enum class completion_kind : std::uint8_t { done = 0x0, failed = 0xd, none = 0xf };

// Why an entry failed.
enum class status : std::uint8_t {
  ok = 0x00,
  local_length = 0x01,
  bad_entry = 0x02,
  local_protection = 0x04,
  flushed = 0x05,
  remote_access = 0x13,
  retry_exceeded = 0x15,
  no_queue = 0xff,  // not of a card: there was no queue pair to ask by
};

constexpr const char* name(status s) {
  switch (s) {
    case status::ok:
      return "ok";
    case status::local_length:
      return "local length error";
    case status::bad_entry:
      return "bad entry (local queue operation error)";
    case status::local_protection:
      return "local protection error";
    case status::flushed:
      return "flushed, after an error before it";
    case status::remote_access:
      return "remote access error";
    case status::retry_exceeded:
      return "retry count exceeded";
    case status::no_queue:
      return "the block has as many queue pairs as it can have; use fewer contexts";
  }
  return "unknown status";
}

STARLING_HD constexpr std::uint64_t last_word(std::uint32_t queue, std::uint16_t index, completion_kind kind,
                                              bool owner) {
  return halves(queue & 0xffffff, static_cast<std::uint32_t>(index) << 16 | static_cast<std::uint32_t>(kind) << 4 |
                                      static_cast<std::uint32_t>(owner));
}

// The owner bit of completion number `number` of a completion queue.
STARLING_HD constexpr bool owner_of(std::uint64_t number, std::uint32_t depth) { return (number & depth) != 0; }

// Whether the last word of a place is that of completion `number`, and not of one round before.
STARLING_HD constexpr bool is_new(std::uint64_t last, std::uint64_t number, std::uint32_t depth) {
  const auto kind = static_cast<completion_kind>(last >> 4 & 0xf);
  return kind != completion_kind::none && (last & 1) == static_cast<std::uint64_t>(owner_of(number, depth));
}
STARLING_HD constexpr bool is_error(std::uint64_t last) {
  return static_cast<completion_kind>(last >> 4 & 0xf) == completion_kind::failed;
}
STARLING_HD constexpr std::uint16_t index_of(std::uint64_t last) { return static_cast<std::uint16_t>(last >> 16); }
STARLING_HD constexpr status status_of(std::uint64_t word_6) { return static_cast<status>(word_6 & 0xff); }

// What a place holds before the first round.
STARLING_HD constexpr std::uint64_t never_written() { return last_word(0, 0, completion_kind::none, true); }

// The place of an index that is 16 bits wide among numbers that go on: the first from `base` on.
STARLING_HD constexpr std::uint64_t unwrapped(std::uint64_t base, std::uint16_t index) {
  return base + static_cast<std::uint16_t>(index - static_cast<std::uint16_t>(base));
}

}  // namespace starling::network
