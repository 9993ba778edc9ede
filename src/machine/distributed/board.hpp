// What the processes of one group tell each other on the host: words in memory that all have mapped. Zeros are its
// first state, so that nobody has to begin it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace starling {

inline constexpr int most_processes = 256;

// A process that is lost, as a word: 0 as long as there is none.
enum class loss : std::uint32_t { died = 1, silent = 2 };

struct board {
  // What a process says at a meeting. Two by turns: it writes one while others may still read the one before.
  struct box {
    std::uint32_t bytes;
    char text[8188];
  };
  struct alignas(64) seat {
    std::atomic<std::uint64_t> met;   // the last meeting that the process has come to
    std::atomic<std::uint32_t> left;  // 1: it has given the machine up
    std::atomic<std::int32_t> system_number;
    box boxes[2];
  };

  alignas(64) std::atomic<std::uint32_t> bell;  // changes when sleepers should look again
  alignas(64) std::atomic<std::uint64_t> arrivals;
  alignas(64) std::atomic<std::uint32_t> lost;  // 1 + rank, and how, 16 bits further up; the first one only
  seat seats[most_processes];
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace starling
