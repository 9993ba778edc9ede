// The GPU of a process that NVSHMEM is begun for: it is initialised for the CUDA context of the calling thread, and
// without one it does no more than let the processes find each other. The driver is loaded when it is asked for, so
// that machines without one have nothing to do with it, and programs for virtual devices are not linked to it.
#pragma once

namespace starling::nvshmem {

class gpu_context {
 public:
  // The context that the calling thread has; else that of GPU `rank` of those that the process sees, counted round, as
  // CUDA's runtime would take it. None where there is no driver or no GPU: it is NVSHMEM then that says so.
  static gpu_context of_process(int rank);

  // Makes it that of the calling thread.
  void make_current() const;

 private:
  int (*set_current_)(void* context) = nullptr;
  void* context_ = nullptr;
};

}  // namespace starling::nvshmem
