// Stands in for src/machine/cuda in builds without CUDA.
#include "backend.hpp"
#include "distributed/process_group.hpp"
#include "starling/base/error.hpp"
#include "starling/machine/kernel_file.hpp"

namespace starling {

machine::cuda_status probe_cuda_backend() {
  machine::cuda_status status;
  status.problem = "this build of Starling has no CUDA part";
  status.remedy =
      "configure with -DSTARLING_CUDA=on (pip install: -C cmake.define.STARLING_CUDA=on) where the CUDA toolkit is "
      "installed";
  return status;
}

std::shared_ptr<backend> make_cuda_backend(const std::vector<int>&, const cuda_options&) {
  const machine::cuda_status status = probe_cuda_backend();
  throw unsupported_error(
      message("machine::cuda: ", status.problem, "; ", status.remedy, ", or use virtual devices: machine::host(n)"));
}

std::shared_ptr<backend> make_distributed_cuda_backend(const std::vector<int>&, std::unique_ptr<process_group>,
                                                       engine_group*) {
  return make_cuda_backend({}, {});
}

kernel_file::kernel_file(const std::string& path) {
  const machine::cuda_status status = probe_cuda_backend();
  throw unsupported_error(message("kernel_file: ", path, ": ", status.problem, "; ", status.remedy));
}

const void* kernel_file::find(const char*) const { return library_; }

}  // namespace starling
