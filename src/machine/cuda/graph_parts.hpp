// What the kernels and functions of one graph need beside it: where kernels report faults, words by which blocks of
// resident launches meet, and the functions. A recording fills it; the graph has it, and each stream that has launched
// the graph, until its work has ended.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "handles.hpp"
#include "host_calls.hpp"
#include "launch_faults.hpp"

namespace starling::on_cuda {

struct graph_parts {
  explicit graph_parts(std::shared_ptr<launch_faults> reports) : faults(std::move(reports)) {}

  std::shared_ptr<launch_faults> faults;
  host_calls calls;
  std::vector<std::unique_ptr<program_control>> meetings;  // one for each resident launch: some run side by side
  std::vector<std::shared_ptr<void>> kept;                 // by stream::keep_with_recording
  std::set<int> pes;                                       // whose kernels, copies, copied memory and fills are in it
  bool priorities = false;                                 // some come from streams that have one
  bool waits_for_words = false;                            // copies that kernels set off
  std::vector<unique_memory> counters;                     // of loops of the work

  // What they are instantiated with: nodes have the priority of the stream that launches them all, or their own.
  unsigned long long flags() const { return priorities ? cudaGraphInstantiateFlagUseNodePriority : 0; }

  bool any() const { return calls.failed() || faults->any(); }
};

}  // namespace starling::on_cuda
