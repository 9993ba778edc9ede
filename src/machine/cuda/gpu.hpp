// The GPUs of a machine by PE: which they are, what they can do, what each PE has of them where several share one, and
// one stream each for the runtime's own copies and fills.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "../distributed/process_group.hpp"
#include "../network/host_layout.hpp"
#include "driver.hpp"
#include "handles.hpp"
#include "partition.hpp"
#include "starling/machine/cuda_options.hpp"
#include "starling/machine/device_info.hpp"

namespace starling::on_cuda {

// Shares of memory are multiples of this, the size of pages of GPUs of today.
inline constexpr std::size_t share_page = std::size_t{2} << 20;

// A PE and its GPU, or its share of one.
struct gpu {
  int pe = 0;
  int id = 0;        // CUDA ordinal in this process; -1: another process drives it, and this one does not see it
  int first_pe = 0;  // the first PE on this GPU: what the driver has once for a GPU is kept for that one
  device_info info;
  cudaDeviceProp properties{};  // of the whole GPU
  bool driven = true;           // by this process; of others only the numbers and `info` are known
  bool reached = true;          // it is on this host: its memory is behind addresses of this process
  partition own;                // of the multiprocessors; none where the GPU is not shared, or plainly
  unique_stream service;        // goes before the partition

  bool shared() const { return info.pes_on_gpu > 1; }
  // Whether no other PE's blocks can take room from this one's: then the driver checks a cooperative launch against all
  // that there is. Where PEs share plainly it would check against the whole GPU, so the launch is a plain one there,
  // and residency.hpp has the proof.
  bool has_own_multiprocessors() const { return !shared() || info.partitioned; }
};

// The PEs of this process, which are neighbours.
inline std::span<const gpu> driven_here(const std::vector<gpu>& gpus) {
  const auto begin = std::find_if(gpus.begin(), gpus.end(), [](const gpu& g) { return g.driven; });
  return {begin, std::find_if(begin, gpus.end(), [](const gpu& g) { return !g.driven; })};
}

// PE i is on the GPU with ordinal placement[i]. Makes the GPUs' contexts. `how` is not automatic. Throws argument_error
// when a GPU has fewer multiprocessors than PEs, unsupported_error when a GPU or a pair of GPUs cannot do what a
// machine needs: virtual memory management, cooperative launches, peer access with atomic operations, partitions if
// they are asked for; memory_error when a PE would have no memory.
std::vector<gpu> open_gpus(const std::vector<int>& placement, gpu_sharing how, const driver_api& driver);

// The GPUs of a machine of several processes, of which this one drives `placement`, by PE from first_pe on. Collective.
// Those of PEs on one GPU share it plainly, whichever process they are of; PEs of other `hosts` are not reached. Throws
// as above, and unsupported_error where the GPUs of the processes are not of one kind.
std::vector<gpu> open_gpus(const std::vector<int>& placement, const driver_api& driver, process_group& processes,
                           const network::host_layout& hosts);

// A GPU as PE `pe`, with all that it has; throws as open_gpus does.
gpu open_gpu(int pe, int id, const driver_api& driver);
// Throws unsupported_error unless signals and atomics of one PE act on the other's memory, which plain PCIe peer access
// does not do.
void check_pair(const gpu& a, const gpu& b);

// Whether CUDA is in use on one of these GPUs already: what it reads when it starts has been read. Makes no context.
bool has_context(const std::vector<int>& placement);

// Whether kernels are loaded when they are first met, not when CUDA starts.
bool loads_late(const driver_api& driver);

// What of the GPUs' multiprocessors no PE has, in words; empty: nothing, or the GPUs are not shared.
std::string left_over(const std::vector<gpu>& gpus);

// A stream for the PE's work, on its own multiprocessors if it has some; `priority` as of machine::new_stream. The
// device of `g` is current.
unique_stream new_stream(const gpu& g, int priority = 0);

// The PEs on the same GPU.
std::vector<int> sharing(const std::vector<gpu>& gpus, const gpu& g);

// Text for errors: "PE 1 (NVIDIA H200, device 3)".
std::string describe(const gpu& g);

}  // namespace starling::on_cuda
