// Owners of CUDA's handles and of pinned host memory. Releasing never throws, also when the driver is gone already.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "check.hpp"
#include "device_guard.hpp"
#include "starling/machine/stream.hpp"

namespace starling::on_cuda {

template <class Handle, cudaError_t (*Release)(Handle)>
class unique_handle {
 public:
  unique_handle() = default;
  explicit unique_handle(Handle handle) : handle_(handle) {}
  unique_handle(unique_handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  unique_handle& operator=(unique_handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~unique_handle() {
    if (handle_ != nullptr) ignore(Release(handle_));
  }

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using unique_stream = unique_handle<cudaStream_t, cudaStreamDestroy>;
using unique_event = unique_handle<cudaEvent_t, cudaEventDestroy>;
using unique_graph = unique_handle<cudaGraph_t, cudaGraphDestroy>;
using unique_memory = unique_handle<void*, cudaFree>;
using unique_graph_exec = unique_handle<cudaGraphExec_t, cudaGraphExecDestroy>;

inline unique_event make_event(int pe, event_use use) {
  cudaEvent_t e = nullptr;
  const unsigned flags = use == event_use::timing ? cudaEventDefault : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&e, flags), "cudaEventCreateWithFlags", pe);
  return unique_event(e);
}

// n zeroed objects in host memory that all GPUs reach at the address the host uses (unified addressing).
template <class T>
class pinned_array {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  pinned_array() = default;
  // `device` owns the memory in CUDA's eyes; any other that happened to be current would get a context for it.
  pinned_array(std::size_t n, int device) : size_(n) {
    const device_guard guard(device);
    void* p = nullptr;
    check(cudaHostAlloc(&p, n * sizeof(T), cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    data_ = static_cast<T*>(p);
    clear();
  }
  pinned_array(pinned_array&& other) noexcept { *this = std::move(other); }
  pinned_array& operator=(pinned_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~pinned_array() {
    if (data_ != nullptr) ignore(cudaFreeHost(data_));
  }

  void clear() { std::memset(static_cast<void*>(data_), 0, size_ * sizeof(T)); }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace starling::on_cuda
