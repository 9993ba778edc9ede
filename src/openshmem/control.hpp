// Words in each PE's memory by which PEs meet. Zeros are their first state.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace starling::openshmem {

// What a PE says when it comes to a meeting, in an array `long pSync[SHMEM_SYNC_SIZE]` or a team's own: 0 for nobody is
// here, 1 for come, more for how it has ended, and what the PE is about to do.
inline constexpr int meeting_words = 8;
using meeting_place = std::array<std::int64_t, meeting_words>;

inline constexpr int most_teams = 256;

struct control {
  // 0, or 256 + the exit code with which all processes end. Of PE 0.
  alignas(64) std::atomic<std::uint32_t> exit;
  // A bit for each team's place that this PE uses.
  alignas(64) std::array<std::uint64_t, most_teams / 64> used;
  alignas(64) std::array<meeting_place, most_teams> places;
};

}  // namespace starling::openshmem
