// program_hosts: runs generated programs whose time loop the host runs, with a thread of the host for each PE, or one
// for all.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "fibers.hpp"
#include "starling/machine/machine.hpp"
#include "starling/program/host_pe.hpp"

namespace starling::python {

// How the host orders work.
enum class host_order {
  events,  // streams wait for events of others
  calls    // the host waits for each call, and threads for each other
};

// Who drives the PEs. One thread for all works for one until that waits for another one, then for the next.
enum class host_threads { of_each_pe, one };

class program_hosts {
 public:
  // What the thread of a PE does with the program's data.
  using entry = void (*)(const void* data, generated::host_pe& pe);

  // `signals`: how many the program has.
  program_hosts(machine m, std::vector<kernel> phases, entry program, host_order order, host_threads by, int blocks,
                int threads, index_t signals);
  ~program_hosts();

  // Where blocks leave their parts of reductions, as many as blocks.
  sym<generated::slot> slots() const { return slots_.data(); }

  // Runs the program once; returns when all of it is done. Throws what went wrong first, stall_error when a thread has
  // waited for another one for longer than the deadline.
  void run(const void* data, double deadline);

 private:
  class one;
  struct raised {
    explicit raised(event e) : at(std::move(e)) {}
    event at;  // reached when what the signal tells of is done
    std::atomic<std::uint64_t> value{0};
  };

  void run_one(one& pe, const void* data);

  // Returns when done() holds; throws when another PE has failed or the deadline has passed.
  template <class Done>
  void await(int pe, int other, operation op, where at, const Done& done);
  // Returns when all PEs have come here as often as the caller.
  void meet(int pe, std::uint64_t times, where at);

  machine machine_;
  std::vector<kernel> phases_;
  entry program_;
  host_order order_;
  host_threads by_;
  fibers fibers_;  // of one thread
  int blocks_;
  launch_options options_;
  double deadline_ = 0;
  symmetric_array<generated::slot> slots_;
  std::vector<std::unique_ptr<one>> pes_;
  std::vector<generated::slot> given_[2];  // of all PEs to all, by turns
  std::atomic<std::uint64_t> arrived_{0};
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first thing that went wrong
};

}  // namespace starling::python
