// Work queue entries (WQE), as a card reads them: 64 bytes, big-endian, laid out as mlx5 cards have them.
//
//   word 0  opcode modifier (8 bits), index (16), opcode (8); queue number (24), length in units of 16 bytes (8)
//   word 1  flags in the last 8 of its first 32 bits
//   word 2  address at the far side
//   word 3  key of the far side's memory (32)
//   word 4  bytes (32), key of the near side's memory (32); of an entry that carries its data: 2^31 + bytes, 4 of them
//   word 5  address at the near side; of an entry that carries its data: the other 8
//
// Atomic operations are longer: word 4 is what is added or stored, word 5 what the old value is compared with, words 6
// and 7 are as words 4 and 5 of the others and say where the old value goes.
#pragma once

#include <cstdint>

#include "starling/device/target.hpp"

namespace starling::network {

enum class opcode : std::uint8_t {
  write = 0x08,
  read = 0x10,
  compare_swap = 0x11,
  fetch_add = 0x12,
};
constexpr bool is_atomic(opcode o) { return o == opcode::compare_swap || o == opcode::fetch_add; }

// Flags. Completion: the card says when it is done. Fence: what is before in the queue is done first.
inline constexpr std::uint8_t wants_completion = 0x08;
inline constexpr std::uint8_t fenced = 0x40;

inline constexpr std::uint32_t inline_bytes = 12;
inline constexpr std::uint32_t inline_mark = std::uint32_t{1} << 31;
inline constexpr std::uint32_t most_entry_bytes = std::uint32_t{1} << 30;

struct alignas(64) entry {
  std::uint64_t word[8];  // as they lie in memory
};

STARLING_HD constexpr std::uint64_t big_endian(std::uint64_t v) {
  v = (v & 0x00ff00ff00ff00ffU) << 8 | (v >> 8 & 0x00ff00ff00ff00ffU);
  v = (v & 0x0000ffff0000ffffU) << 16 | (v >> 16 & 0x0000ffff0000ffffU);
  return v << 32 | v >> 32;
}
STARLING_HD constexpr std::uint64_t halves(std::uint32_t first, std::uint32_t second) {
  return static_cast<std::uint64_t>(first) << 32 | second;
}

// What an entry asks for.
struct order {
  opcode what = opcode::write;
  std::uint8_t flags = 0;
  std::uint16_t index = 0;
  std::uint32_t queue = 0;
  std::uint64_t remote = 0;
  std::uint32_t remote_key = 0;
  std::uint32_t bytes = 0;
  bool carries = false;  // its data is in the entry
  std::uint32_t local_key = 0;
  std::uint64_t local = 0;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  unsigned char data[inline_bytes] = {};
};

STARLING_HD constexpr std::uint32_t length_of(opcode o) { return is_atomic(o) ? 4 : 3; }

// The words of an entry, before they are turned big-endian.
STARLING_HD constexpr std::uint64_t control_word(const order& o) {
  return halves(static_cast<std::uint32_t>(o.index) << 8 | static_cast<std::uint32_t>(o.what),
                o.queue << 8 | length_of(o.what));
}
STARLING_HD constexpr std::uint64_t flags_word(std::uint8_t flags) { return halves(flags, 0); }
STARLING_HD constexpr std::uint64_t remote_key_word(std::uint32_t key) { return halves(key, 0); }
STARLING_HD constexpr std::uint64_t data_word(const order& o) { return halves(o.bytes, o.local_key); }
// Words 4 and 5 of an entry that carries its data, as they lie in memory.
STARLING_HD inline void carried_words(const order& o, std::uint64_t& first, std::uint64_t& second) {
  first = o.bytes | inline_mark;
  for (int i = 0; i < 4; ++i) first = first << 8 | o.data[i];
  second = 0;
  for (int i = 4; i < 12; ++i) second = second << 8 | o.data[i];
}

// Whole entries, in words that lie in memory as a card reads them.
STARLING_HD inline entry built(const order& o) {
  entry e{};
  std::uint64_t w[8] = {control_word(o), flags_word(o.flags), o.remote, remote_key_word(o.remote_key)};
  if (is_atomic(o.what)) {
    w[4] = o.operand;
    w[5] = o.compare;
    w[6] = data_word(o);
    w[7] = o.local;
  } else if (o.carries) {
    carried_words(o, w[4], w[5]);
  } else {
    w[4] = data_word(o);
    w[5] = o.local;
  }
  for (int i = 0; i < 8; ++i) e.word[i] = big_endian(w[i]);
  return e;
}

// What a card makes of it. Nothing is checked but that the entry's length is that of its opcode.
STARLING_HD inline bool parsed(const entry& e, order& o) {
  std::uint64_t w[8];
  for (int i = 0; i < 8; ++i) w[i] = big_endian(e.word[i]);
  o.what = static_cast<opcode>(w[0] >> 32 & 0xff);
  o.index = static_cast<std::uint16_t>(w[0] >> 40);
  o.queue = static_cast<std::uint32_t>(w[0] >> 8 & 0xffffff);
  o.flags = static_cast<std::uint8_t>(w[1] >> 32);
  o.remote = w[2];
  o.remote_key = static_cast<std::uint32_t>(w[3] >> 32);
  const bool atomic = is_atomic(o.what);
  if (!atomic && o.what != opcode::write && o.what != opcode::read) return false;
  if ((w[0] & 0xff) != length_of(o.what)) return false;
  // By choices, not by an index: the words then stay in registers.
  const std::uint64_t data = atomic ? w[6] : w[4];
  const std::uint64_t place = atomic ? w[7] : w[5];
  o.bytes = static_cast<std::uint32_t>(data >> 32);
  o.local_key = static_cast<std::uint32_t>(data);
  o.local = place;
  if (atomic) {
    o.operand = w[4];
    o.compare = w[5];
    return o.bytes == 4 || o.bytes == 8;
  }
  o.carries = (o.bytes & inline_mark) != 0;
  if (!o.carries) return true;
  o.bytes &= ~inline_mark;
  for (int i = 0; i < 4; ++i) o.data[i] = static_cast<unsigned char>(data >> (24 - 8 * i));
  for (int i = 0; i < 8; ++i) o.data[4 + i] = static_cast<unsigned char>(place >> (56 - 8 * i));
  return o.what == opcode::write && o.bytes <= inline_bytes;
}

}  // namespace starling::network
