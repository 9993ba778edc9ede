// The proof that all blocks of the programs of one run are resident at once: without it a block could wait for one that
// never starts.
#pragma once

#include <vector>

#include "kernel_table.hpp"
#include "starling/machine/machine.hpp"

namespace starling::on_cuda {

// What a run asks of one PE.
struct residency {
  int blocks_wanted = 0;
  int blocks_that_fit = 0;
  // How much of the fast memory must be shared memory, per cent, for all programs alike: a multiprocessor cannot change
  // the split while it runs blocks. Automatic for a single program, where a cooperative launch takes care of it.
  int shared_memory = kernel_table::automatic;
};

// One program: as many blocks as the driver's occupancy says. Several: every block is counted as if it needed the most
// that any block of the run needs, of threads, registers and shared memory each. Then any multiprocessor that cannot
// take a further block holds at least as many as counted, whatever order the hardware places them in; adding up each
// program's own occupancy would not prove that.
residency residency_on(const gpu& g, kernel_table& kernels, const std::vector<program>& programs);

// Throws launch_error, with the numbers, unless all programs' blocks are resident together on every PE.
void require_residency(const std::vector<gpu>& gpus, kernel_table& kernels, const std::vector<program>& programs);

// How many blocks of a launch fit at once; launch_error when not even one does.
int blocks_of_launch(const gpu& g, kernel_table& kernels, const kernel& k, const launch_options& options);
// Throws launch_error for a resident launch of so many blocks, which do not fit.
[[noreturn]] void refuse_resident_launch(const gpu& g, kernel_table& kernels, const kernel& k,
                                         const launch_options& options, int blocks);

}  // namespace starling::on_cuda
