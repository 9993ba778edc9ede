#include "check.hpp"

#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

constexpr const char* out_of_memory_step =
    "free arrays, end other processes that hold memory of this GPU (nvidia-smi shows them), or use more devices";
constexpr const char* no_code_step =
    "build the source of the kernel for this GPU (-DSTARLING_CUDA_ARCH=90 for compute capability 9.0), and link the "
    "kernels and Starling with one CUDA runtime";
constexpr const char* recording_step =
    "inside machine::record only launch, copy between pinned or device memory, fill, record and wait; every stream "
    "that joined by waiting for an event must be waited for by the origin before the recording ends";
constexpr const char* sticky_step =
    "the GPUs cannot be used by this process any more, so end it and start again; to find the place run it under "
    "compute-sanitizer, or on virtual devices with machine::host(n)";
constexpr const char* other_step =
    "see the CUDA runtime's documentation of this error; machine::probe_cuda() tells the versions";

}  // namespace

bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorContained:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

std::string describe(cudaError_t error) {
  return message(cudaGetErrorName(error), " (", cudaGetErrorString(error), ")");
}

void throw_cuda_error(cudaError_t error, const std::string& call, int pe) {
  (void)cudaGetLastError();  // so that it is not found again by a call that has nothing to do with it
  const std::string what =
      message(call, pe == no_pe ? std::string() : message(" on PE ", pe), ": ", describe(error), "; ");
  switch (error) {
    case cudaErrorMemoryAllocation:
      throw memory_error(what + out_of_memory_step);
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
      throw unsupported_error(what + no_code_step);
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureMerge:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureWrongThread:
    case cudaErrorCapturedEvent:
      throw argument_error(what + recording_step);
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorLaunchOutOfResources:
      throw launch_error(what + "ask for fewer blocks, threads or scratch memory");
    default:
      throw device_error(what + (is_sticky(error) ? sticky_step : other_step));
  }
}

bool still_running(cudaError_t query, const char* call, int pe) {
  if (query == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return true;
  }
  check(query, call, pe);
  return false;
}

}  // namespace starling::on_cuda
