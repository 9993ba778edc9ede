// Every call of the CUDA runtime and of the driver goes through check(): a failure becomes the Starling error that says
// what the call was, on which PE, what CUDA answered, and what to do next.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

namespace starling::on_cuda {

// In check(): the call is not about one PE.
inline constexpr int no_pe = -1;

// Throws memory_error, unsupported_error, argument_error, launch_error or device_error. `call` names what was
// attempted.
[[noreturn]] void throw_cuda_error(cudaError_t error, const std::string& call, int pe);

inline void check(cudaError_t error, const char* call, int pe = no_pe) {
  if (error != cudaSuccess) [[unlikely]]
    throw_cuda_error(error, call, pe);
}

// For destructors: there is nobody to tell. Takes the error off CUDA's record so that no later call of the user's finds
// it there. At the end of the process the driver may be gone already (cudaErrorCudartUnloading), which is fine.
inline void ignore(cudaError_t error) noexcept {
  if (error != cudaSuccess) (void)cudaGetLastError();
}

// Whether work is still under way; other errors throw. "Not ready" is taken off CUDA's record.
bool still_running(cudaError_t query, const char* call, int pe);

// Whether the GPU contexts of this process are beyond repair after this error.
bool is_sticky(cudaError_t error);

// "cudaErrorIllegalAddress (an illegal memory access was encountered)".
std::string describe(cudaError_t error);

}  // namespace starling::on_cuda
