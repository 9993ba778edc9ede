// The GPUs of a machine: which they are, what they can do, and one stream each for the runtime's own copies and fills.
#pragma once

#include <vector>

#include "driver.hpp"
#include "handles.hpp"
#include "starling/machine/device_info.hpp"

namespace starling::on_cuda {

struct gpu {
  int pe = 0;
  int id = 0;  // CUDA ordinal
  device_info info;
  cudaDeviceProp properties{};
  unique_stream service;
};

// PE i is the GPU with ordinal ids[i]; no ids: all GPUs. Makes the GPUs' contexts. Throws argument_error for an ordinal
// that does not exist or is there twice, unsupported_error when a GPU or a pair of GPUs cannot do what a machine needs:
// virtual memory management, cooperative launches, peer access with atomic operations.
std::vector<gpu> open_gpus(const std::vector<int>& ids, const driver_api& driver);

// Text for errors: "PE 1 (NVIDIA H200, device 3)".
std::string describe(const gpu& g);

}  // namespace starling::on_cuda
