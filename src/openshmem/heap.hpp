// The symmetric heap: what shmem_malloc and the like hand out, alike on all PEs.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace starling::openshmem {

class world;

class heap {
 public:
  explicit heap(world& w) : w_(w) {}

  // Collective, as is release. Null for 0 bytes. Throws argument_error where PEs ask for other sizes, memory_error
  // where it does not fit.
  void* allocate(std::size_t bytes, std::size_t alignment = 16);
  // Throws range_error for an address that allocate has not given, or that is free already.
  void release(void* start);
  std::size_t size_of(void* start);

 private:
  struct part {
    std::size_t offset;
    std::size_t bytes;
  };

  part find(void* start);

  world& w_;
  std::mutex mutex_;
  std::map<void*, part> parts_;
};

// What the functions do.
void* allocate(std::size_t bytes);
void* allocate_zeros(std::size_t count, std::size_t size);
void* allocate_aligned(std::size_t alignment, std::size_t bytes);
void* allocate_with_hints(std::size_t bytes, long hints);
void* reallocate(void* start, std::size_t bytes);
void release(void* start);

}  // namespace starling::openshmem
