// The addresses of symmetric memory and the GPU memory behind them: one reservation, PE i's part i strides from the
// start, so that a kernel finds any PE's copy with one multiplication. Memory is put behind it as it is needed, on
// every PE alike, and every GPU of the machine may read and write all of it; of a machine of several processes each has
// all of it behind addresses of its own. Gives everything back when it goes.
#pragma once

#include <mutex>
#include <vector>

#include "memory_exchange.hpp"
#include "starling/base/index.hpp"

namespace starling::on_cuda {

class symmetric_range {
 public:
  // Reserves addresses for at least `bytes` on each PE. `exchange`: with the other processes; null: there are none.
  symmetric_range(const std::vector<gpu>& gpus, const device_mapper& mapper, std::size_t bytes,
                  memory_exchange* exchange = nullptr);
  ~symmetric_range();
  symmetric_range(const symmetric_range&) = delete;
  symmetric_range& operator=(const symmetric_range&) = delete;

  std::byte* start() const { return reinterpret_cast<std::byte*>(base_); }
  index_t stride() const { return static_cast<index_t>(stride_); }

  // What offsets and sizes of mapped memory are multiples of.
  std::size_t granularity() const { return mapper_.granularity(); }
  std::size_t rounded(std::size_t bytes) const { return mapper_.rounded(bytes); }

  // Whose memory is put behind addresses: of every PE, which is collective, or of those of this process.
  enum class whose { all, driven };
  // Puts memory behind [begin, end) of these PEs. Throws memory_error, and then has changed nothing.
  void map(std::size_t begin, std::size_t end, whose pes);

 private:
  void map_driven(std::size_t begin, std::size_t end, const std::string& what);
  void map_together(std::size_t begin, std::size_t end, const std::string& what);
  void unmap_from(std::size_t first) noexcept;
  CUdeviceptr address_of(const gpu& g, std::size_t offset) const {
    return base_ + static_cast<std::size_t>(g.pe) * stride_ + offset;
  }

  struct piece {
    const gpu* on;
    CUdeviceptr address;
    std::size_t bytes;
  };

  const std::vector<gpu>& gpus_;
  const device_mapper& mapper_;
  memory_exchange* exchange_;
  std::size_t stride_ = 0;
  CUdeviceptr base_ = 0;
  std::mutex mutex_;
  std::vector<piece> mapped_;
};

// A part of the range, [begin, begin + limit) of every PE, whose memory grows from its start.
class growing_area {
 public:
  // Grows by at least `step` bytes at a time where there is memory for that.
  growing_area(symmetric_range& range, std::size_t begin, std::size_t limit, std::size_t step,
               symmetric_range::whose pes = symmetric_range::whose::all)
      : range_(range), begin_(begin), limit_(limit), step_(step), pes_(pes) {}

  // Memory up to `size` bytes from the area's start. Throws memory_error.
  void grow_to(std::size_t size);

 private:
  symmetric_range& range_;
  std::size_t begin_;
  std::size_t limit_;
  std::size_t step_;
  symmetric_range::whose pes_;
  std::size_t size_ = 0;
};

}  // namespace starling::on_cuda
