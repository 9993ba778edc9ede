// Local memory of a CUDA machine: the GPUs' in one reservation of addresses, behind which memory is put piece by piece,
// the host's, which is pinned, and managed memory. What is freed goes back once nothing on the GPUs can use it any
// more; until then its addresses stay taken. Gives everything back when it goes. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "../local_heap.hpp"
#include "device_mapper.hpp"

namespace starling::on_cuda {

class local_store {
 public:
  // Reserves so many bytes of addresses.
  local_store(const std::vector<gpu>& gpus, const device_mapper& mapper, std::size_t bytes);
  ~local_store();
  local_store(const local_store&) = delete;
  local_store& operator=(const local_store&) = delete;

  // Of the GPUs.
  const local_heap& heap() const { return heap_; }

  // The start of the pieces, one behind the other; several have whole pages each. Neighbours on one PE are one piece of
  // memory. Throws memory_error.
  std::byte* allocate(const std::vector<placed_bytes>& pieces);
  // The memory counts as freed from here on.
  void retire(std::byte* start) noexcept;
  // Gives back what was retired, after all work on the GPUs has ended; nothing when CUDA does not allow to wait for it.
  void reclaim() noexcept;

  // Whether the address is of memory of the host, or of managed memory, that was allocated here.
  bool is_outside(const void* address) const;
  std::size_t free_bytes(int place) const;

 private:
  std::byte* allocate_host(std::size_t bytes);
  std::byte* allocate_managed(std::size_t bytes);
  std::byte* keep_outside(void* start, std::size_t bytes, bool managed);
  void map(std::byte* start, const std::vector<placed_bytes>& pieces);
  void unmap(std::byte* start, const std::vector<placed_bytes>& pieces, std::size_t mapped) const noexcept;
  CUdeviceptr address(std::byte* start) const { return reinterpret_cast<CUdeviceptr>(start); }

  const std::vector<gpu>& gpus_;
  const device_mapper& mapper_;
  std::size_t bytes_;
  CUdeviceptr base_;
  local_heap heap_;
  mutable std::mutex mutex_;
  struct outside {
    std::size_t bytes;
    bool managed;
  };
  std::map<const std::byte*, outside> outside_;  // live memory of the host, and managed
  std::vector<std::byte*> retired_;
  std::vector<std::pair<std::byte*, bool>> retired_outside_;  // whether it is managed
};

// What the system can give without swapping.
std::size_t available_host_bytes();

}  // namespace starling::on_cuda
