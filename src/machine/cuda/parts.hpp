// The parts of a CUDA machine that launches work with; the back end owns them.
#pragma once

#include <vector>

#include "../symmetric_heap.hpp"
#include "gpu.hpp"
#include "kernel_table.hpp"
#include "launch.hpp"

namespace starling::on_cuda {

struct parts {
  const std::vector<gpu>& gpus;
  kernel_table& kernels;
  symmetric_heap& heap;      // the users'
  symmetric_heap& control;   // control words; apart, so that they neither count as used nor move users' offsets
  symmetric_heap& launches;  // those of plain launches, which each process makes by itself

  std::span<const gpu> driven() const { return driven_here(gpus); }
  int n_pes() const { return static_cast<int>(gpus.size()); }
  const gpu& on(int pe) const { return gpus[static_cast<std::size_t>(pe)]; }

  // The state that blocks of PE `pe` start with, but for control words and reports.
  program_state state(int pe, const role_table& roles, const launch_options& options, double deadline) const {
    program_state s;
    s.pe = pe;
    s.n_pes = n_pes();
    s.n_blocks = roles.first[roles.count];
    s.roles = roles;
    s.heap = {heap.where().start, heap.where().stride};
    s.heap_bytes = heap.where().capacity;
    s.deadline_ns = nanoseconds(deadline);
    s.scratch_bytes = static_cast<std::uint32_t>(scratch_of(options));
    return s;
  }
};

}  // namespace starling::on_cuda
