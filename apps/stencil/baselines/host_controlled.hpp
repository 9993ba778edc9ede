// The host-controlled variants: what the host issues for each step, one host thread per PE. Streams and events order
// the devices' work; the host waits only when it checks for convergence.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "starling/machine/machine.hpp"
#include "stencil/core/fields.hpp"
#include "stencil/plan/launch_shape.hpp"
#include "stencil/step/stencil_kernels.hpp"

namespace starling::stencil {

template <class T>
class host_controlled {
 public:
  host_controlled(machine& m, const fields<T>& f, std::vector<stream>& main, std::vector<stream>& side,
                  const run_options& options, const launch_shape& launch);

  // Issues the steps that make time levels first + 1 to last; the last one finds the largest change if `check`.
  // Throws what went wrong in issuing them.
  void issue(index_t first, index_t last, bool check);

  // Entries of fields::changes that a step with check fills on each PE.
  int blocks_with_changes() const { return options_.how == variant::copy ? launch_.blocks : 2 * launch_.blocks; }

 private:
  void issue_for(int pe, index_t first, index_t last, bool check);
  void step_in_order(int pe, index_t time_level, bool check);
  void step_overlapped(int pe, index_t time_level, bool check);
  // Makes `s` of PE `pe` wait until the neighbours have sent what it needs, and what it overwrites has been read.
  void wait_for_neighbours(stream& s, int pe, index_t time_level);
  void copy_faces(stream& s, int pe, index_t time_level);
  // Returns when the thread of `pe` has issued everything of a time level, so that its events can be waited for.
  void await_issue(int pe, index_t time_level) const;
  event& sent(int pe, index_t time_level) { return sent_[static_cast<std::size_t>(pe)][time_level % 2]; }

  const fields<T>& f_;
  std::vector<stream>& main_;
  std::vector<stream>& side_;
  const run_options& options_;
  const launch_shape& launch_;
  std::vector<box> boxes_;                    // by PE
  std::vector<std::vector<event>> sent_;      // by PE, then parity of the time level: faces computed and delivered
  std::vector<event> interior_done_;          // by PE
  std::vector<std::atomic<index_t>> issued_;  // by PE: the time level up to which its thread has issued
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first thing that went wrong
};

}  // namespace starling::stencil
