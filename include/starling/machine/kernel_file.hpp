// kernel_file: GPU code that was compiled by itself (nvcc -cubin), and the kernels in it.
#pragma once

#include <string>

namespace starling {

class kernel_file {
 public:
  // Loads the file. It stays loaded for as long as the process runs, since machines know kernels by their addresses.
  // Throws argument_error when it holds no code for the GPUs that are here, unsupported_error where there is no CUDA.
  explicit kernel_file(const std::string& path);

  // What kernel::on_gpu takes, of the kernel of this name; null: there is none.
  const void* find(const char* name) const;

 private:
  void* library_ = nullptr;
};

}  // namespace starling
