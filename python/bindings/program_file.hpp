// program_file: what a generated program was compiled to, a shared object of the host or GPU code, and its kernels.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "starling/machine/kernel.hpp"
#include "starling/machine/kernel_file.hpp"

namespace starling::python {

class program_file {
 public:
  // Loads it. Throws argument_error when it cannot be loaded.
  program_file(std::string path, bool for_gpus);

  // The kernel whose entries' names begin so, without its data. Throws argument_error when there is none.
  kernel find(const std::string& name) const;

  // A function of a shared object. Throws argument_error when there is none.
  void* function(const std::string& name) const;

 private:
  std::string path_;
  std::optional<kernel_file> on_gpu_;
  std::shared_ptr<void> library_;
  bool accesses_seen_ = false;
};

}  // namespace starling::python
