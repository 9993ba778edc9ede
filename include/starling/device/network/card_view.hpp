// What a launch tells the blocks of a PE of the network card of their host, and that card of them: plain data in device
// memory, one of each PE, on GPUs of several hosts.
//
// The PE has memory for so many queue pairs; blocks take them as they use them, and a queue has its number for the rest
// of the run. Records of all of them lie side by side, so that the card looks at many at once.
#pragma once

#include "starling/device/network/queue_pair.hpp"
#include "starling/device/report.hpp"

namespace starling::network {

// The call that an entry is of, for reports.
struct origin {
  const char* file;
  std::int32_t line;
  operation op;
};

// What the card keeps of a queue.
struct card_progress {
  std::uint64_t completions = 0;
  std::uint16_t fetched = 0;  // index of the next entry
  std::uint16_t failed = 0;   // an entry has: those after it are flushed
};

// Words that change while a program runs. All zero before.
struct card_counts {
  alignas(128) std::uint64_t taken;  // queues that blocks have
  alignas(128) std::uint64_t ended;  // blocks that have ended
};

struct card_view {
  const std::int32_t* host_of = nullptr;  // by PE
  region_table memory;
  std::byte* queues = nullptr;       // memory of all queue pairs, queue_bytes(depth) each
  std::uint64_t* records = nullptr;  // doorbell records, by queue. All zero before
  card_progress* progress = nullptr;
  card_counts* counts = nullptr;
  std::byte** tables = nullptr;  // by block: where it has its queue pairs, in its own shared memory
  std::uint32_t n_queues = 0;
  std::uint32_t depth = 0;
  std::uint32_t staging_key = no_key;  // of all that is behind `queues`
  std::uint32_t staged = 0;            // puts of up to so many bytes pass through staging memory
  int far = 0;                         // PEs behind the card
  int pe = 0;
};

// Data that the card does not reach passes through staging memory, whose first 64 bytes are for answers of atomic
// operations.
inline constexpr std::uint32_t staging_room = 4096;
inline constexpr std::uint32_t staging_of_queue = staging_room + 64;

// Where the parts of a queue pair are in its memory.
struct queue_parts {
  std::uint64_t completions;
  std::uint64_t kept;
  std::uint64_t origins;
  std::uint64_t words;  // doorbell and completion record
  std::uint64_t staging;
  std::uint64_t bytes;
};
STARLING_HD constexpr queue_parts parts_of_queue(std::uint64_t depth) {
  constexpr std::uint64_t line = 128;
  queue_parts p{};
  p.completions = depth * sizeof(entry);
  p.kept = p.completions + depth * sizeof(completion);
  p.origins = p.kept + (depth + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  p.words = p.origins + depth * sizeof(origin);
  p.staging = (p.words + 2 * sizeof(std::uint64_t) + line - 1) / line * line;
  p.bytes = (p.staging + staging_of_queue + line - 1) / line * line;
  return p;
}

// Queue numbers have 24 bits and are the card's: those of a PE are side by side.
STARLING_HD constexpr std::uint32_t number_of_queue(const card_view& v, std::uint32_t queue) {
  return static_cast<std::uint32_t>(v.pe) * v.n_queues + queue + 1;
}

STARLING_HD constexpr int pe_of_queue(const card_view& any, std::uint32_t number) {
  return static_cast<int>((number - 1) / any.n_queues);
}

// Queue pair `queue` of a PE, but for its peer and for where its block counts.
STARLING_HD inline queue_pair pair_of(const card_view& v, std::uint32_t queue) {
  const queue_parts p = parts_of_queue(v.depth);
  std::byte* start = v.queues + queue * p.bytes;
  queue_pair q;
  q.ring = reinterpret_cast<entry*>(start);
  q.completions = reinterpret_cast<completion*>(start + p.completions);
  q.kept = reinterpret_cast<std::uint8_t*>(start + p.kept);
  q.record = v.records + queue;
  q.doorbell = reinterpret_cast<std::uint64_t*>(start + p.words);
  q.completion_record = q.doorbell + 1;
  q.staging = start + p.staging;
  q.staging_bytes = staging_of_queue;
  q.staging_key = v.staging_key;
  q.number = number_of_queue(v, queue);
  q.depth = v.depth;
  q.pe = v.pe;
  q.memory = v.memory;
  return q;
}
STARLING_HD inline origin* origins_of(const queue_pair& q) {
  return reinterpret_cast<origin*>(reinterpret_cast<std::byte*>(q.ring) + parts_of_queue(q.depth).origins);
}

}  // namespace starling::network
