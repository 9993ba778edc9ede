// Faults that virtual devices make happen on purpose, so that one can see what a program, and the host around it, does
// when something goes wrong. A plan is plain data; machine::inject puts it into force.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "starling/device/report.hpp"

namespace starling {

// In a selector: blocks of any number.
inline constexpr int any_block = -1;

// On which memory a call must work to count: what the program allocated; the control words by which barriers,
// all_reduce and broadcast meet; or both. `usual` is `user` for faults of signals and packets, because the signals of a
// barrier are no calls of the program, and `all` for faults of blocks.
enum class fault_calls { usual, user, control, all };

// Calls of blocks on virtual devices, counted from inject() on, over all runs and all blocks that match. The fault
// fires at call number `nth`, and at those that follow until it has fired `times` times.
struct fault_selector {
  int pe = any_pe;        // that makes the call
  int block = any_block;  // on that PE
  std::int64_t nth = 1;
  std::int64_t times = 1;  // 0: for ever
  fault_calls calls = fault_calls::usual;
};

// A signal is never raised: of put_signal, signal_set, signal_add and put_packets. Its data arrives.
struct drop_signal {
  fault_selector at = {};
};

// A signal is raised later; the block that raises it waits as long.
struct delay_signal {
  fault_selector at = {};
  double seconds = 0;
};

// A packet arrives with another number: these bits of it are flipped. 8 bytes that put_signal puts directly before
// their signal are a packet too.
struct corrupt_epoch {
  fault_selector at = {};
  std::uint64_t flip = std::uint64_t{1} << 63;
};

// A block ends at a call of any kind, and the program with it: fault_error.
struct kill_block {
  fault_selector at = {};
};

// Every call of any kind takes longer by this time; `nth` and `times` of the selector are not used.
struct slow_pe {
  fault_selector at = {};
  double seconds = 0;  // per call
};

// A network card finds no way to the PE that a put, get, signal or atomic operation is for, if that PE is behind the
// card: the call, and what the block asks of that PE in the same context later, is not done: network_error. Calls for
// PEs on the block's host are not counted.
struct lose_link {
  fault_selector at = {};
};

// machine::allocate, allocate_on and allocate_over throw memory_error, at allocation number `nth` from inject() on and
// those that follow.
struct fail_allocation {
  std::int64_t nth = 1;
  std::int64_t times = 1;  // 0: for ever
};

using fault = std::variant<drop_signal, delay_signal, corrupt_epoch, kill_block, slow_pe, lose_link, fail_allocation>;

const char* name(const fault& f);

struct fault_plan {
  std::vector<fault> faults;
};

// A fault that has happened: where first, and how often.
struct fired_fault {
  int index = 0;           // in the plan
  std::string kind;        // "drop_signal", ...
  std::int64_t times = 0;  // so far
  int pe = any_pe;         // whose block made the call; allocations have none
  int block = any_block;
  operation op = operation::none;  // wait, put, ... a signal is a put
  int peer = any_pe;               // on which PE the call worked
  std::string file;                // of the call; empty where it is not known
  int line = 0;

  // "drop_signal: PE 1 block 0, put at ring.cpp:31 to PE 2"
  std::string text() const;
};

}  // namespace starling
