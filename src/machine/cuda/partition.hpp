// Multiprocessors of a GPU that belong to one PE: a green context of the driver. Its streams run their kernels on these
// alone, and a cooperative launch is refused beyond what they hold.
#pragma once

#include <string>
#include <vector>

#include "driver.hpp"

namespace starling::on_cuda {

class partition {
 public:
  partition() = default;  // none
  partition(const driver_api& driver, CUgreenCtx context, int multiprocessors)
      : driver_(&driver), context_(context), multiprocessors_(multiprocessors) {}
  partition(partition&& other) noexcept;
  partition& operator=(partition&& other) noexcept;
  // All its streams have been destroyed.
  ~partition();

  explicit operator bool() const { return context_ != nullptr; }
  int multiprocessors() const { return multiprocessors_; }
  cudaStream_t new_stream(int pe, int priority) const;  // CUDA's number

 private:
  const driver_api* driver_ = nullptr;  // outlives this
  CUgreenCtx context_ = nullptr;
  int multiprocessors_ = 0;
};

// So many partitions of equal size, disjoint. The GPU's context has been made. Throws unsupported_error that says why
// there are none: the driver is too old, or the GPU has too few multiprocessors for groups of the size that it makes.
std::vector<partition> split(const driver_api& driver, int device, int pes, const std::string& gpu);

}  // namespace starling::on_cuda
