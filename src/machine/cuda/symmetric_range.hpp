// The addresses of symmetric memory and the GPU memory behind them: one reservation, PE i's part i strides from the
// start, so that a kernel finds any PE's copy with one multiplication. Memory is put behind it as it is needed, on
// every PE alike, and every GPU of the machine may read and write all of it. Gives everything back when it goes.
#pragma once

#include <mutex>
#include <vector>

#include "device_mapper.hpp"
#include "starling/base/index.hpp"

namespace starling::on_cuda {

class symmetric_range {
 public:
  // Reserves addresses for at least `bytes` on each PE.
  symmetric_range(const std::vector<gpu>& gpus, const device_mapper& mapper, std::size_t bytes);
  ~symmetric_range();
  symmetric_range(const symmetric_range&) = delete;
  symmetric_range& operator=(const symmetric_range&) = delete;

  std::byte* start() const { return reinterpret_cast<std::byte*>(base_); }
  index_t stride() const { return static_cast<index_t>(stride_); }

  // What offsets and sizes of mapped memory are multiples of.
  std::size_t granularity() const { return mapper_.granularity(); }
  std::size_t rounded(std::size_t bytes) const { return mapper_.rounded(bytes); }

  // Puts memory behind [begin, end) of every PE. Throws memory_error, and then has changed nothing.
  void map(std::size_t begin, std::size_t end);

 private:
  struct piece {
    const gpu* on;
    CUdeviceptr address;
    std::size_t bytes;
  };

  const std::vector<gpu>& gpus_;
  const device_mapper& mapper_;
  std::size_t stride_ = 0;
  CUdeviceptr base_ = 0;
  std::mutex mutex_;
  std::vector<piece> mapped_;
};

// A part of the range, [begin, begin + limit) of every PE, whose memory grows from its start.
class growing_area {
 public:
  // Grows by at least `step` bytes at a time where there is memory for that.
  growing_area(symmetric_range& range, std::size_t begin, std::size_t limit, std::size_t step)
      : range_(range), begin_(begin), limit_(limit), step_(step) {}

  // Memory up to `size` bytes from the area's start. Throws memory_error.
  void grow_to(std::size_t size);

 private:
  symmetric_range& range_;
  std::size_t begin_;
  std::size_t limit_;
  std::size_t step_;
  std::size_t size_ = 0;
};

}  // namespace starling::on_cuda
