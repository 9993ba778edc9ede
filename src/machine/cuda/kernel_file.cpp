#include "starling/machine/kernel_file.hpp"

#include "check.hpp"
#include "starling/base/error.hpp"

namespace starling {

#if CUDART_VERSION >= 12080

kernel_file::kernel_file(const std::string& path) {
  cudaLibrary_t library = nullptr;
  const cudaError_t loaded = cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  on_cuda::ignore(loaded);
  expect<argument_error>(loaded == cudaSuccess, "kernel_file: ", path,
                         " cannot be loaded: ", cudaGetErrorString(loaded),
                         "; compile it for the GPUs of this machine");
  library_ = library;
}

const void* kernel_file::find(const char* name) const {
  cudaKernel_t found = nullptr;
  const cudaError_t state = cudaLibraryGetKernel(&found, static_cast<cudaLibrary_t>(library_), name);
  on_cuda::ignore(state);
  return state == cudaSuccess ? found : nullptr;
}

#else

kernel_file::kernel_file(const std::string& path) {
  throw unsupported_error(message("kernel_file: ", path, ": this build is of CUDA ", CUDART_VERSION / 1000, ".",
                                  CUDART_VERSION % 1000 / 10, ", which loads no kernels from files; build Starling ",
                                  "with CUDA 12.8 or newer"));
}

const void* kernel_file::find(const char*) const { return library_; }

#endif

}  // namespace starling
