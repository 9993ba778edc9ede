// Puts, gets and signals. When they return, their own arrays may be used again, and what was put is there, on PEs of
// other hosts after finish(); so those that may return sooner (_nbi) are the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shmem.h"

namespace starling::openshmem {

// What put_signal does to a word after its data.
struct signal_update {
  std::uint64_t* word;
  std::uint64_t value;
  int how;
};

// `count` blocks of `size` elements each.
struct blocks {
  std::size_t size;
  std::size_t count;
};

// `n` elements of so many bytes. Throw range_error for a PE, an address or a count that does not exist.
void put(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::size_t element, int pe);
void get(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::size_t element, int pe);
// Strides are in elements, from block to block.
void iput(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, const blocks& b,
          std::size_t element, int pe);
void iget(shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, const blocks& b,
          std::size_t element, int pe);
void put_signal(shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::size_t element,
                const signal_update& s, int pe);
std::uint64_t signal_fetch(const std::uint64_t* word);

template <class T>
T get_one(shmem_ctx_t ctx, const T* source, int pe) {
  T value{};
  get(ctx, &value, source, 1, sizeof(T), pe);
  return value;
}

// Bytes of n elements. Throws range_error where they cannot be counted.
std::size_t bytes_of(std::size_t n, std::size_t element);
// Within memory of this process; what 1, 2, 4 or 8 bytes hold is never seen in part.
void move(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace starling::openshmem
