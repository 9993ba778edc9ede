// Which GPU each PE of machine::cuda is on. Plain arithmetic: nothing here asks a driver.
#pragma once

#include <string>
#include <vector>

#include "starling/base/environment.hpp"
#include "starling/machine/cuda_options.hpp"

namespace starling {

// Of a machine of GPUs: a block puts the values of all PEs together in the memory for reductions
// (target::reduce_slots), which has a slot for each warp that a block can have.
inline constexpr std::size_t most_gpu_pes = 32;

// Throws argument_error for options that make no sense on any host, together with ids.
void check_cuda_options(const std::vector<int>& ids, const cuda_options& options);

// Whether PEs may come to share a GPU: known before anything is asked of the driver.
bool may_share(const std::vector<int>& ids, const cuda_options& options, const environment& e);

// The CUDA ordinal of each PE's GPU, on a host with so many GPUs; see machine::cuda. Throws argument_error for an
// ordinal that does not exist.
std::vector<int> place_pes(const std::vector<int>& ids, const cuda_options& options, const environment& e, int gpus);

// Options win over the environment.
gpu_sharing sharing_of(const cuda_options& options, const environment& e);

// The most PEs that one GPU has.
int most_on_one(const std::vector<int>& placement);

// The PEs that are on a GPU, in order.
std::vector<int> pes_on(const std::vector<int>& placement, int gpu);

// "PE 3", "PEs 0, 1 and 2".
std::string list_of_pes(const std::vector<int>& pes);

}  // namespace starling
