// What the rivals share: calls of CUDA that throw, streams that are waited for with a deadline, and lines of results.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <string>
#include <vector>

#include "json_line.hpp"
#include "starling/base/error.hpp"
#include "starling/base/index.hpp"

namespace starling::bench {

inline void check(cudaError_t status, const char* call) {
  expect<device_error>(status == cudaSuccess, call, ": ", cudaGetErrorString(status));
}

// Waits for all work of a stream; device_error when it has not ended by then.
inline void finish(cudaStream_t s, std::chrono::steady_clock::time_point limit) {
  cudaError_t status = cudaStreamQuery(s);
  while (status == cudaErrorNotReady) {
    expect<device_error>(std::chrono::steady_clock::now() < limit, "the GPU has not finished within 20 s");
    status = cudaStreamQuery(s);
  }
  check(status, "cudaStreamQuery");
}
inline std::chrono::steady_clock::time_point soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(20);
}

// A line as ways.cpp prints them. PEs are -1 for what all do together.
struct rival_result {
  std::string what;
  const char* measure = "latency";
  int devices = 1;
  int from = -1;
  int to = -1;
  index_t bytes = 0;
  index_t iterations = 0;
  std::vector<double> us;

  void print() const {
    json_line(what)
        .add("measure", measure)
        .add("machine", "cuda")
        .add("devices", devices)
        .add("from", from)
        .add("to", to)
        .add("bytes", bytes)
        .add("iterations", iterations)
        .add("us", us)
        .print();
  }
};

}  // namespace starling::bench
