// Conjugate gradients that the host controls: it launches the kernels of many iterations ahead, events order those of
// different PEs, and now and then it checks how far they have come. Scalars stay on the devices.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "cg/host/host_steps.hpp"
#include "starling/machine/machine.hpp"

namespace starling::cg {

// How its kernels are launched: shape of all, and which PEs exchange values of vectors.
struct host_launch {
  int blocks = 1;  // per PE
  launch_options options;
  std::vector<std::vector<int>> neighbours;  // by PE
};

// Work of one solve at a time; the streams of all PEs are its own meanwhile.
template <class T>
class host_controlled {
 public:
  host_controlled(machine& m, const system_data<T>& s, std::vector<stream>& streams, const solve_options& o,
                  const host_launch& launch);
  ~host_controlled();
  host_controlled(const host_controlled&) = delete;
  host_controlled& operator=(const host_controlled&) = delete;

  // Iterates until the goal; `begin`: from x and b alone. history[0] is of `first_iteration`. Returns where that led.
  iteration_state advance(const goal& g, index_t first_iteration, bool begin);
  // Seconds that this took, without recording graphs.
  double seconds() const { return seconds_; }

 private:
  // A kernel, ready to launch.
  struct ready_step {
    planned_step plan;
    kernel k;
  };
  struct sequence {
    std::vector<ready_step> steps;
    slot_numbers end;
  };
  enum class kind { begin, restart, iteration, check };

  // How far the work of a PE has been issued. Points are numbered: one behind each kernel that has something for other
  // PEs, and all PEs have the same.
  struct progress_of_pe {
    std::uint64_t point = 0;
    std::uint64_t published = 0;       // the point of the last kernel that did
    std::uint64_t posted = 0;          // the same
    std::vector<std::uint64_t> waits;  // by PE: the last point that the stream waits for
  };

  void store_state();
  void read_state();
  void issue_some();
  const sequence& planned(kind what);
  void issue(kind what);
  void issue_iterations(index_t n);
  void launch_graph();
  graph record_iterations();
  void flush();
  void flush_for(int pe);
  void issue_step(int pe, const ready_step& s);
  void wait_for(int pe, int other, std::uint64_t point);
  void await_issue(int pe, std::uint64_t point) const;
  void fork();
  void join();
  void synchronize();
  index_t iterations_ahead() const;
  void start_clock() { clock_ = std::chrono::steady_clock::now(); }
  void stop_clock();

  machine& machine_;
  std::vector<stream>& streams_;
  solve_options options_;
  host_launch launch_;
  host_step_arguments<T> arguments_;
  symmetric_array<host_state> state_on_pes_;
  symmetric_array<double> parts_;

  host_state now_;                                      // as last seen, or what it must have become
  slot_numbers slots_;                                  // after all that has been issued
  std::map<std::pair<kind, int>, sequence> sequences_;  // by slots
  std::map<int, graph> graphs_;                         // the same: of graph_iterations_ iterations
  index_t graph_iterations_ = 0;
  std::vector<const sequence*> pending_;  // to be issued

  std::vector<progress_of_pe> progress_;
  std::vector<std::vector<event>> points_;          // by PE: of the last points
  std::vector<std::atomic<std::uint64_t>> issued_;  // by PE: the last point
  std::vector<event> joined_;                       // by PE
  std::vector<event> forked_;                       // one
  bool after_graph_ = false;                        // stream 0 is ahead of the others
  bool apart_ = false;                              // they are ahead of it
  std::chrono::steady_clock::time_point clock_;
  double seconds_ = 0;
  bool many_threads_ = false;
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first thing that went wrong in issuing
};

}  // namespace starling::cg
