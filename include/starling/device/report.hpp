// What a block says of itself when a program ends badly: plain data, written by the block, read by the host.
#pragma once

#include <cstdint>

#include "starling/device/target.hpp"
#include "starling/device/word.hpp"

namespace starling {

// A place in the user's source, taken where the call stands.
struct where {
  const char* file;
  int line;

  static constexpr where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

enum class operation : std::int32_t {
  none,
  wait,
  sync_pe,
  sync_all,
  all_reduce,
  broadcast,
  put,
  get,
  atomic,
  scratch,
  slice_access,
  sync_level,
  channel,  // a message that it cannot carry
  region,   // a use that is against its rules
  // Collectives of a team: shmem/team.hpp.
  team_sync,
  team_broadcast,
  team_collect,
  team_fcollect,
  team_alltoall,
  team_alltoalls,
  team_reduce,
  team_inscan,
  team_exscan,
  wait_until,
  wait_until_any,  // of several words
  take_value,
  lock,  // a use that is against its rules
  quiet,
};

// Whether it is a collective of a team.
constexpr bool of_team(operation op) { return op >= operation::team_sync && op <= operation::team_exscan; }

constexpr const char* name(operation op) {
  switch (op) {
    case operation::none:
      return "none";
    case operation::wait:
      return "wait";
    case operation::sync_pe:
      return "sync_pe";
    case operation::sync_all:
      return "sync_all";
    case operation::all_reduce:
      return "all_reduce";
    case operation::broadcast:
      return "broadcast";
    case operation::put:
      return "put";
    case operation::get:
      return "get";
    case operation::atomic:
      return "atomic";
    case operation::scratch:
      return "scratch";
    case operation::slice_access:
      return "slice access";
    case operation::sync_level:
      return "sync";
    case operation::channel:
      return "channel";
    case operation::region:
      return "region";
    case operation::team_sync:
      return "team sync";
    case operation::team_broadcast:
      return "team broadcast";
    case operation::team_collect:
      return "team collect";
    case operation::team_fcollect:
      return "team fcollect";
    case operation::team_alltoall:
      return "team alltoall";
    case operation::team_alltoalls:
      return "team alltoalls";
    case operation::team_reduce:
      return "team reduce";
    case operation::team_inscan:
      return "team inscan";
    case operation::team_exscan:
      return "team exscan";
    case operation::wait_until:
      return "wait_until";
    case operation::wait_until_any:
      return "wait_until_any";
    case operation::take_value:
      return "take_value";
    case operation::lock:
      return "lock";
    case operation::quiet:
      return "quiet";
  }
  return "?";
}

// Whether it is a wait for words that somebody else changes, and no barrier.
constexpr bool is_wait(operation op) {
  return op == operation::wait || op == operation::wait_until || op == operation::wait_until_any ||
         op == operation::take_value;
}

enum class block_state : std::int32_t {
  running,         // was not in a wait when the program ended
  waiting,         // was in a wait when another block ended the program
  expired,         // its wait passed the deadline: a first cause
  out_of_range,    // named a PE, an index, a level or an amount of scratch memory beyond what there is: a first cause
  not_resident,    // called a barrier in a plain launch: a first cause
  finished,        // had returned from the kernel
  incomplete,      // threads of it had returned from the kernel, the others called a collective: a first cause
  near_side,       // source of its put or destination of its get is not memory of its own: a first cause
  not_symmetric,   // gave a pointer for a symmetric address that is none: a first cause
  network_failed,  // a network card answered its call with an error: a first cause
  late,            // GPUs: came to its wait after the program had been ended; until then it computed, or had not begun
};

// In a report: the peer is not known.
inline constexpr int any_pe = -1;

struct block_report {
  std::int32_t pe = 0;
  std::int32_t block = 0;  // index on its PE
  std::int32_t role = 0;
  block_state state = block_state::running;
  operation op = operation::none;
  std::int32_t peer = any_pe;  // the PE that should raise the signal; out_of_range: the PE asked for, the dimension or
                               // the level; near_side and not_symmetric: the PE whose memory it is, any_pe if it is of
                               // no PE alone
  compare how = compare::ge;
  std::int32_t line = 0;
  std::uint64_t signal_offset = 0;  // bytes from the start of symmetric memory; out_of_range of scratch: bytes asked
  std::uint64_t wanted = 0;         // widened from `kind`, as is `seen`; not_symmetric: the address;
                                    // network_failed: the card's status
  std::uint64_t seen = 0;           // near_side: bytes to the end of its variable, if the compiler could tell
  word_kind kind = word_kind::unsigned_8;  // of the word that it waits for
  char file[84] = {};                      // the end of the path, if it is longer
};

// Copies the end of a path that fits, in code that runs on both targets.
STARLING_HD inline void set_place(block_report& r, where at) {
  r.line = at.line;
  int length = 0;
  while (at.file[length] != 0) ++length;
  const int room = static_cast<int>(sizeof r.file) - 1;
  const int skip = length > room ? length - room : 0;
  for (int i = 0; i <= length - skip; ++i) r.file[i] = at.file[skip + i];
}

}  // namespace starling
