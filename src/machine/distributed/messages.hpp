// What the processes of several hosts send each other.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "engine.hpp"

namespace starling {

enum class message_kind : std::uint32_t {
  // The group: engine_group.
  said,   // to process 0: what a process says at meeting `number`
  heard,  // from process 0: what all say
  lost,   // process `pe` is lost, `number` says how
  left,   // the sender has given the machine up, after meeting `number`
  // Memory: far_memory. `number` is the question's, which its answer repeats.
  put,      // the data follows
  applied,  // `number` of the receiver's puts have been carried out
  get,      // asks for `bytes`
  got,      // the data follows
  change,   // asks for an atomic operation
  changed,  // `operand` is what the word held
  ended,    // run `number`, and those before, have been ended
};
inline constexpr int message_kinds = static_cast<int>(message_kind::ended) + 1;

struct message_head {
  message_kind kind{};
  std::int32_t pe = 0;
  std::uint64_t offset = 0;  // in the memory of the PE
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  std::uint64_t operation = 0;  // network::opcode
};

inline message_bytes made_message(const message_head& head, const void* data = nullptr, std::size_t bytes = 0) {
  message_bytes m(sizeof head + bytes);
  std::memcpy(m.data(), &head, sizeof head);
  if (bytes > 0) std::memcpy(m.data() + sizeof head, data, bytes);
  return m;
}

// A message that has come, while its handler runs.
struct message_view {
  explicit message_view(const message_bytes& m) : data(m.data() + sizeof head), bytes(m.size() - sizeof head) {
    std::memcpy(&head, m.data(), sizeof head);
  }
  std::string text() const { return {reinterpret_cast<const char*>(data), bytes}; }

  message_head head;
  const std::byte* data;
  std::size_t bytes;
};

}  // namespace starling
