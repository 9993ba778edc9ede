// A fault plan in force: counts the calls that match, says what is to happen at each, and keeps what has happened.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "starling/device/host_port.hpp"
#include "starling/machine/faults.hpp"

namespace starling::host {

// A call of a block, as faults see it.
struct fault_call {
  int pe = 0;
  int block = 0;
  operation op = operation::none;
  int peer = any_pe;
  where at{"", 0};
  bool signal = false;   // it raises one
  bool packet = false;   // it puts one
  bool control = false;  // on control words
  bool by_card = false;  // the peer is behind a network card
  int context = 0;
};

// What is to happen at a call.
struct fault_effects {
  bool kill = false;
  bool lose = false;  // the way to the peer
  bool drop = false;
  double pause = 0;        // seconds
  std::uint64_t flip = 0;  // bits of the packet's number
};

class fault_session {
 public:
  explicit fault_session(fault_plan plan);

  // Every call of every block, before it is carried out.
  fault_effects at(const fault_call& call);

  // Every allocation. Throws memory_error that says how much was asked for.
  void at_allocation(std::size_t bytes, const char* memory, int n_pes);

  // A program or a plain launch starts.
  void begin_run() { ++runs_; }

  std::vector<fired_fault> fired() const;
  // For the text of errors: what has fired, and when it was not in the newest run.
  std::vector<std::string> notes() const;

 private:
  // The call is counted; whether the fault fires at it.
  bool due(std::size_t i, std::int64_t nth, std::int64_t times);
  void keep(std::size_t i, const fault_call& call);

  struct record {
    fired_fault first;
    int run = 0;
  };

  const fault_plan plan_;
  std::unique_ptr<std::atomic<std::int64_t>[]> counted_;  // calls that match, by fault
  std::atomic<int> runs_{0};
  mutable std::mutex mutex_;
  std::vector<std::optional<record>> records_;  // by fault
};

}  // namespace starling::host
