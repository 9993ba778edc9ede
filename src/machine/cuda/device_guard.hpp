// Chooses the GPU that CUDA runtime calls of this thread mean, and gives the caller's choice back when it goes: other
// users of CUDA in the process, PyTorch for one, keep theirs.
#pragma once

#include "check.hpp"

namespace starling::on_cuda {

class device_guard {
 public:
  device_guard() {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    now_ = before_;
  }
  explicit device_guard(int device) : device_guard() { use(device); }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard() {
    if (now_ != before_) ignore(cudaSetDevice(before_));
  }

  void use(int device) { check(select(device), "cudaSetDevice"); }

  // For where an earlier failure of a kernel, which any call may return, is not to be thrown here.
  cudaError_t select(int device) noexcept {
    if (device == now_) return cudaSuccess;
    const cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) now_ = device;
    return error;
  }

 private:
  int before_ = 0;
  int now_ = 0;
};

}  // namespace starling::on_cuda
