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
  put,        // the data follows
  put_apart,  // `bytes` come as the sender's next data
  put_came,   // they have, as the receiver tells itself
  applied,    // `number` of the receiver's puts have been carried out
  get,        // asks for `bytes`; `operation`: not 0 when they are to come apart
  got,        // the data follows
  got_apart,  // it comes as the sender's next data
  got_came,   // it has, as the receiver tells itself
  change,     // asks for an atomic operation
  changed,    // `operand` is what the word held
  ended,      // run `number`, and those before, have been ended
  // OpenSHMEM in C: far_meetings, and world.
  come,  // `pe` has come to the meeting at `offset`; what it says follows
  go,  // the meeting at `offset` is over; `number`: which member does not say what the first does. What all say follows
  ending,  // all processes end with exit code `number`
};
inline constexpr int message_kinds = static_cast<int>(message_kind::ending) + 1;

struct message_head {
  message_kind kind{};
  std::int32_t pe = 0;
  std::uint64_t offset = 0;  // in the memory of the PE
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  std::uint64_t operation = 0;  // word_change
  std::uint64_t follow = 0;     // bytes of data behind it
};

inline void append_bytes(message_bytes& all, const void* data, std::size_t bytes) {
  const std::size_t begin = all.size();
  all.resize(begin + bytes);
  if (bytes > 0) std::memcpy(all.data() + begin, data, bytes);
}

// Messages to one process lie one behind the other.
inline void append(message_bytes& all, message_head head, const void* data = nullptr, std::size_t bytes = 0) {
  head.follow = bytes;
  append_bytes(all, &head, sizeof head);
  append_bytes(all, data, bytes);
}

inline message_bytes made_message(const message_head& head, const void* data = nullptr, std::size_t bytes = 0) {
  message_bytes m;
  append(m, head, data, bytes);
  return m;
}

// A message that has come, while its handler runs.
struct message_view {
  explicit message_view(const message_head& h) : head(h) {}
  message_view(const message_bytes& all, std::size_t begin) : data(all.data() + begin + sizeof head) {
    std::memcpy(&head, all.data() + begin, sizeof head);
    bytes = head.follow;
  }
  std::string text() const { return {reinterpret_cast<const char*>(data), bytes}; }

  message_head head;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
};

}  // namespace starling
