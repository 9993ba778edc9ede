// How machine::cuda puts PEs on GPUs: one each, or several that share one.
#pragma once

#include <optional>
#include <vector>

#include "starling/machine/card.hpp"

namespace starling {

// How the PEs of one GPU divide its multiprocessors.
enum class gpu_sharing {
  automatic,   // partitions where the driver makes them, else plain; STARLING_GPU_SHARING decides otherwise
  partitions,  // each PE has multiprocessors of its own, equally many; some may be left over
  plain        // any multiprocessor takes blocks of any PE; what a PE launches is counted against an equal share
};

struct cuda_options {
  // How many PEs each GPU has, one after the other: GPU 0 has PEs 0 to n - 1. Nothing said: as often as ids names it,
  // or STARLING_PES_PER_GPU.
  std::optional<int> pes_per_gpu = {};
  gpu_sharing sharing = gpu_sharing::automatic;
  // Whether PEs that share a GPU answer each other before the machine is handed out: if their kernels do not run at the
  // same time, every wait for each other would end at its deadline. A tool that lets kernels run one after the other,
  // a memory checker for one, can still look at kernels that wait for nobody.
  bool answer = true;
  // On which host each PE is, what the network cards between them are, and the length of the rings of queue pairs: as
  // host_options has them. Kernels that run there must be built for it: starling_kernels(... NETWORK).
  std::vector<int> hosts = {};
  std::optional<starling::card> card = {};
  int queue_depth = 64;
};

}  // namespace starling
