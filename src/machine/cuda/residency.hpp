// The proof that all blocks of the programs of one run are resident at once: without it a block could wait for one that
// never starts.
//
// PEs that share a GPU. Where each has a partition of the multiprocessors, its blocks run there and nobody else's do,
// so the proof for a GPU of that size holds for each of them: programs, resident launches of streams, and plain
// launches too, whose blocks never wait for room that another PE takes. Where they share plainly, the blocks of all PEs
// are counted together against all multiprocessors (blocks_of_shares), which all of them may use; a launch of a stream
// is counted against its PE's share, so launches of one kernel, one on each PE, are resident together. What the proof
// leaves out is what keeps a launch from starting though there is room: too few hardware queues, launches that the host
// waits for, modules that are loaded late. launch_queues.hpp and sharing_check.hpp see to these. A kernel that needs
// more local memory than any before it on its GPU may wait for those that run; programs start the greediest first.
#pragma once

#include <vector>

#include "kernel_table.hpp"
#include "starling/machine/machine.hpp"

namespace starling::on_cuda {

// What a run asks of one PE.
struct residency {
  int blocks_wanted = 0;
  int blocks_that_fit = 0;
  // How much of the L1 must be shared memory, per cent, for all programs alike: a multiprocessor cannot change
  // the split while it runs blocks. Automatic for a single program, where a cooperative launch takes care of it.
  int shared_memory = kernel_table::automatic;
};

// One program: as many blocks as the driver's occupancy says. Several: every block is counted as if it needed the most
// that any block of the run needs, of threads, registers and shared memory each. Then any multiprocessor that cannot
// take a further block holds at least as many as counted, whatever order the hardware places them in; adding up each
// program's own occupancy would not prove that.
residency residency_on(const gpu& g, kernel_table& kernels, const std::vector<program>& programs);

// Throws launch_error, with the numbers, unless all programs' blocks are resident together on every PE.
void require_residency(std::span<const gpu> gpus, kernel_table& kernels, const std::vector<program>& programs);

// Whether the driver itself checks that all blocks of a launch are resident together, and sees to the split of the fast
// memory: not where other PEs may take the room, nor for kernels that can launch others, which CUDA then refuses.
bool launches_cooperatively(const gpu& g, const kernel& k);

// How many blocks of a launch fit at once; launch_error when not even one does.
int blocks_of_launch(const gpu& g, kernel_table& kernels, const kernel& k, const launch_options& options);
// Throws launch_error for a resident launch of so many blocks, which do not fit.
[[noreturn]] void refuse_resident_launch(const gpu& g, kernel_table& kernels, const kernel& k,
                                         const launch_options& options, int blocks);

}  // namespace starling::on_cuda
