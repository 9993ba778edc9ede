// What the rivals share: calls of CUDA's libraries that throw, memory of a GPU that frees itself, and waits that end.
#pragma once

#include <cuda_runtime.h>
#include <cusparse.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "starling/base/error.hpp"
#include "starling/base/index.hpp"

namespace starling::bench {

inline void check(cudaError_t status, const char* call) {
  expect<device_error>(status == cudaSuccess, call, ": ", cudaGetErrorString(status));
}
inline void check(cusparseStatus_t status, const char* call) {
  expect<device_error>(status == CUSPARSE_STATUS_SUCCESS, call, ": ", cusparseGetErrorString(status));
}

// A GPU does not finish. Its work cannot be taken back, so nothing can be freed or tried again in this process.
class hung_error : public device_error {
 public:
  using device_error::device_error;
};

// n values on the current GPU, zero at first. In place when the constructor returns, for streams too that do not wait
// for others.
template <class T>
class gpu_array {
 public:
  gpu_array() = default;
  explicit gpu_array(index_t n) : size_(n) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes() + sizeof(T)), "cudaMalloc");
    check(cudaMemset(data_, 0, bytes() + sizeof(T)), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
  gpu_array(const T* values, index_t n) : gpu_array(n) {
    check(cudaMemcpy(data_, values, bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
  explicit gpu_array(const std::vector<T>& values) : gpu_array(values.data(), static_cast<index_t>(values.size())) {}
  ~gpu_array() { cudaFree(data_); }
  gpu_array(gpu_array&& from) noexcept { swap(from); }
  gpu_array& operator=(gpu_array&& from) noexcept {
    swap(from);
    return *this;
  }

  T* data() const { return data_; }
  index_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }
  std::vector<T> values() const {
    std::vector<T> result(static_cast<std::size_t>(size_));
    check(cudaMemcpy(result.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result;
  }

 private:
  void swap(gpu_array& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  T* data_ = nullptr;
  index_t size_ = 0;
};

// Waits for what a stream was given; throws hung_error when that takes too long.
inline void wait_for(cudaStream_t stream, double seconds = 10) {
  const auto start = std::chrono::steady_clock::now();
  cudaError_t status = cudaStreamQuery(stream);
  while (status == cudaErrorNotReady) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    expect<hung_error>(waited.count() < seconds, "a GPU has not finished after ", seconds, " s");
    status = cudaStreamQuery(stream);
  }
  check(status, "cudaStreamQuery");
}

// y = A x by cuSPARSE, A in compressed sparse rows with 32-bit numbers.
class cusparse_multiply {
 public:
  // The arrays must outlive it.
  cusparse_multiply(cudaStream_t stream, const gpu_array<std::int32_t>& start, const gpu_array<std::int32_t>& column,
                    const gpu_array<double>& value, index_t columns, double* x, double* y, cusparseSpMVAlg_t how);
  ~cusparse_multiply();
  cusparse_multiply(const cusparse_multiply&) = delete;
  cusparse_multiply& operator=(const cusparse_multiply&) = delete;

  // Puts the product into the stream.
  void operator()();

 private:
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  cusparseSpMVAlg_t how_;
  gpu_array<unsigned char> work_;
};

}  // namespace starling::bench
