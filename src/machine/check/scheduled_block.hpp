// What a schedule runs by turns: a block, or a stream, with its vector clock and its outstanding operations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../context_numbers.hpp"
#include "declared_accesses.hpp"
#include "fiber.hpp"
#include "happens_before.hpp"
#include "starling/device/host_port.hpp"

namespace starling::check {

// A call of a block, for the history that an error shows.
struct call {
  const char* what = "";
  where at{"", 0};
  int peer = any_pe;
  std::uint64_t bytes = 0;
  const void* address = nullptr;  // of a signal
  std::uint64_t value = 0;
  word_kind kind = word_kind::unsigned_8;
  bool packet = false;
};

// What is remembered of an operation after it has been issued.
struct operation_fact {
  const char* what = "";
  where at{"", 0};
  int pe = 0;
  bool blocking = true;     // false: it touches the near side until quiet()
  std::uint32_t epoch = 0;  // those of its block to this PE of epochs before arrive before it
  int context = 0;
};

// A signal that may not mean what the block thinks, for hints in reports.
struct suspicion {
  where at{"", 0};
  const void* word = nullptr;
  std::uint64_t value = 0;
};

// An atomic operation that left its word as it was: a lock that was not to be had, a flag that is not set.
struct failed_attempt {
  const void* word = nullptr;
  std::size_t bytes = 0;
  where at{"", 0};
};

// A block's operations of one context to one PE. Those of an epoch are delivered after all of the epochs before:
// fence() ends one.
struct fence_epochs {
  std::uint32_t epoch = 0;
  std::uint32_t oldest = 0;                   // with outstanding operations
  std::vector<std::uint32_t> outstanding{0};  // by epoch
  std::vector<std::uint32_t> unfenced;        // numbers
  operation_set fenced;                       // what arrives before anything that is issued now
};

// A block of a program, a block of a launch in a stream, or a stream: it is scheduled like a block, and its operations
// are its calls.
struct scheduled_block {
  enum class state { ready, waiting, finished };
  enum class kind { block, launched, stream };

  int number = 0;  // of all blocks of all programs
  int program = 0;
  int pe = 0;
  int block = 0;
  int role = 0;
  std::string role_name;
  bool begun = false;     // in this schedule
  bool returned = false;  // the kernel has come to its end

  kind what = kind::block;
  std::function<void()> job;  // what it runs; of launched blocks set by their launch

  state now = state::ready;
  bool in_quiet = false;
  int quiet_of = 0;  // context, or any_context
  wait_request awaited{};
  std::span<const wait_request* const> awaited_by_threads;  // any of them, beside `awaited`
  bool timed_out = false;                                   // the wait has a time of its own, and that has passed
  const void* awaited_event = nullptr;  // a stream waits for this event, or for the end of its launch
  int blocks_to_go = 0;                 // of its launch
  scheduled_block* launched_by = nullptr;
  int launched_from = -1;      // number of the stream, or of the program, whose launches it serves
  int meeting = -1;            // of a stream: number of the control words of its resident launches' barriers
  std::size_t host_calls = 0;  // of a stream: functions of the host so far

  // What the work that it does has declared; null: nothing. And all such work in this schedule, by the clock at which
  // it began, for reports.
  const access_scope* scope = nullptr;
  struct past_work {
    std::uint32_t since;
    const access_scope* scope;
    int block;
  };
  std::vector<past_work> past;

  std::uint32_t clock = 1;  // of its own accesses; grows with each release
  happens_before happened_before;
  snapshot* released = nullptr;       // what happened before its last release, if it has acquired nothing since
  std::vector<std::uint64_t> joined;  // serial of the last snapshot acquired, by block
  int n_pes = 0;
  std::vector<bool> reached;                  // PEs whose memory it may touch in place: it has asked where it is
  std::vector<fence_epochs> epochs;           // by context and PE
  std::vector<operation_fact> operations;     // by number
  operation_set done;                         // that have been delivered
  std::vector<std::uint32_t> outstanding{0};  // by context
  context_numbers contexts;
  std::uint32_t collectives = 0;  // made so far
  std::uint32_t meetings = 0;     // machine-wide ones among them

  std::uint64_t priority = 0;
  suspicion passed_early;    // a wait that passed by a value from before the run
  suspicion same_again;      // a signal set to what it had been set to
  failed_attempt attempted;  // its last, if nothing has changed since
  std::array<call, 8> calls;
  std::uint64_t n_calls = 0;

  void reset(std::size_t n_blocks, std::size_t pes) {
    now = what == kind::launched ? state::finished : state::ready;
    in_quiet = false;
    contexts = {};
    outstanding.assign(1, 0);
    n_pes = static_cast<int>(pes);
    awaited_event = nullptr;
    awaited_by_threads = {};
    clock = 1;
    happened_before.reset(n_blocks);
    released = nullptr;
    joined.assign(n_blocks, 0);
    reached.assign(pes, false);
    epochs.resize(pes);
    for (fence_epochs& l : epochs) {
      l.epoch = l.oldest = 0;
      l.outstanding.assign(1, 0);
      l.unfenced.clear();
      l.fenced.clear();
    }
    operations.clear();
    done.clear();
    collectives = meetings = 0;
    n_calls = 0;
    host_calls = 0;
    scope = nullptr;
    past.clear();
    passed_early = same_again = {};
    attempted = {};
  }

  // A context by its number; all that it has had before are complete.
  void open(int context) {
    const auto all = static_cast<std::size_t>(context) + 1;
    if (outstanding.size() >= all) return;
    outstanding.resize(all, 0);
    epochs.resize(all * static_cast<std::size_t>(n_pes));
  }
  fence_epochs& epochs_to(int pe_number, int context) {
    return epochs[static_cast<std::size_t>(context * n_pes + pe_number)];
  }
  std::span<fence_epochs> epochs_of(int context) {
    if (context == any_context) return epochs;
    const auto pes = static_cast<std::size_t>(n_pes);
    return std::span(epochs).subspan(static_cast<std::size_t>(context) * pes, pes);
  }
  // Whether all operations of a context have arrived.
  bool arrived(int context) const {
    if (context != any_context) return outstanding[static_cast<std::size_t>(context)] == 0;
    return std::all_of(outstanding.begin(), outstanding.end(), [](std::uint32_t n) { return n == 0; });
  }

  void enter(const access_scope* work) {
    if (what != kind::block) ++clock;  // of blocks of programs there may be accesses that are not entered yet
    scope = work;
    past.push_back({clock, work, block});
  }
  // What it did at that time of its clock.
  past_work at(std::uint32_t stamp) const {
    past_work then{0, nullptr, block};
    for (const past_work& p : past)
      if (p.since <= stamp) then = p;
    return then;
  }

  void note(const call& c) { calls[n_calls++ % calls.size()] = c; }
};

}  // namespace starling::check
