// machine::probe_cuda in builds with CUDA. Works, and says why, where there is no driver or no GPU: the runtime is
// linked statically and looks for the driver when it is first called.
#include <cstdlib>

#include "../backend.hpp"
#include "../gpu_placement.hpp"
#include "../launch_queues.hpp"
#include "../process_devices.hpp"
#include "check.hpp"

namespace starling {
namespace {

std::string version_text(int version) { return message(version / 1000, ".", version % 1000 / 10); }

void explain(machine::cuda_status& status, cudaError_t error, int driver, int runtime) {
  if (driver == 0) {
    status.problem = "no NVIDIA driver was found (libcuda.so.1)";
    status.remedy =
        "install the driver, or start the container with GPUs (docker run --gpus all); without GPUs use "
        "machine::host(n)";
  } else if (error == cudaErrorInsufficientDriver) {
    status.problem =
        message("the NVIDIA driver is for CUDA ", version_text(driver), ", this build needs ", version_text(runtime));
    status.remedy = "update the driver, or build Starling with an older CUDA toolkit";
  } else if (error == cudaErrorNoDevice || error == cudaSuccess) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    status.problem = "the NVIDIA driver shows no GPU";
    status.remedy = visible != nullptr
                        ? message("CUDA_VISIBLE_DEVICES is \"", visible, "\": unset it or name GPUs there")
                        : std::string("check nvidia-smi; without GPUs use machine::host(n)");
  } else {
    status.problem = on_cuda::describe(error);
    status.remedy = "check nvidia-smi and the driver's installation; without GPUs use machine::host(n)";
  }
}

// What CUDA reads when it starts is set before the first call, which may be this one. A wrong variable is the machine's
// to report.
void prepare_as_environment_says() {
  try {
    const environment e = environment::read();
    const variables v = environment_variables();
    if (is_launched(v))
      prepare_process_to_share(pes_of_process({}, place_of(v), e), e);
    else if (may_share({}, {}, e))
      prepare_to_share();
  } catch (const error&) {
  }
}

}  // namespace

machine::cuda_status probe_cuda_backend() {
  prepare_as_environment_says();
  machine::cuda_status status;
  status.built = true;
  int runtime = CUDART_VERSION;
  (void)cudaRuntimeGetVersion(&runtime);
  status.runtime = version_text(runtime);
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (driver != 0) status.driver = version_text(driver);
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  (void)cudaGetLastError();
  if (error == cudaSuccess) status.devices = devices;
  if (status.devices == 0) explain(status, error, driver, runtime);
  return status;
}

}  // namespace starling
