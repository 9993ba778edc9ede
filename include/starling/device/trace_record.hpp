// What a block records while a program is traced: plain data, written by the block's first thread into a ring of its
// own, read by the host after the program. The ring keeps the newest records and counts all of them.
#pragma once

#include <cstdint>

namespace starling {

enum class trace_operation : std::uint8_t {
  none,
  put,
  put_signal,
  put_packets,
  get,
  signal,  // signal_set, signal_add
  atomic,
  fence,
  quiet,
  wait,
  take_packet,
  sync_pe,
  sync_all,
  all_reduce,
  broadcast,
  post,        // of an entry to a network card: signal is its queue and opcode, value its number
  completion,  // seen of an entry, and of those before it: signal is its queue and status, value its number
};
inline constexpr int trace_operations = 17;

constexpr const char* name(trace_operation op) {
  constexpr const char* names[trace_operations] = {
      "none", "put",         "put_signal", "put_packets", "get",        "signal",    "atomic", "fence",     "quiet",
      "wait", "take_packet", "sync_pe",    "sync_all",    "all_reduce", "broadcast", "post",   "completion"};
  return static_cast<int>(op) < trace_operations ? names[static_cast<int>(op)] : "?";
}

// One call of a block. Times are ticks of the block's own clock: see trace_ring.
struct alignas(16) trace_record {
  std::uint64_t start;
  std::uint64_t end;     // 0: the call did not return
  std::uint64_t signal;  // bytes from the start of symmetric memory: of the signal raised or awaited, or of the first
                         // packet's number
  std::uint64_t value;   // of the signal: set, added or awaited; the number of packets
  std::uint64_t bytes;   // of payload; of a wait: how many signals
  std::int32_t peer;     // -1: none, or not known
  std::uint32_t what;    // trace_operation; 256 more: the signal was added to, not set

  constexpr trace_operation op() const { return static_cast<trace_operation>(what & 255u); }
  constexpr bool adds() const { return what >= 256u; }
};
static_assert(sizeof(trace_record) == 48);

// The block's clock and the machine's nanoseconds, read together.
struct alignas(16) clock_pair {
  std::uint64_t ticks;
  std::uint64_t ns;
};

inline constexpr int clock_pairs = 32;

// The head of a block's ring.
struct alignas(64) trace_ring {
  std::uint64_t written;  // records so far; those beyond the ring's capacity have overwritten the oldest
  std::uint64_t unused;
  clock_pair begin;                 // when the block started
  clock_pair end;                   // when it returned; zero if it was ended
  clock_pair between[clock_pairs];  // every 1/32 of the capacity, so that they cover what the ring holds
};

static_assert(sizeof(trace_ring) == 576);

// The rings of one PE, as a launch hands them to its blocks.
struct trace_rings {
  trace_ring* heads = nullptr;      // by block; null: nothing is recorded
  trace_record* records = nullptr;  // [block][capacity]
  std::uint32_t capacity = 0;       // a power of two, at least clock_pairs
  std::uint32_t pair_shift = 0;     // capacity / clock_pairs is 1 << pair_shift
};

}  // namespace starling
