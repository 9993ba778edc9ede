#include "arena.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "../distributed/shared_memory.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::host {

arena::arena(std::size_t bytes, std::size_t own, const file* shared, std::size_t shared_bytes)
    : bytes_(bytes + alignment) {
  void* range = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  expect<memory_error>(range != MAP_FAILED, "virtual devices: addresses for ", format_bytes(own), " of memory, and ",
                       format_bytes(bytes - own),
                       " beside it, are not to be had; ask for fewer devices or less memory each "
                       "(STARLING_HOST_MEMORY)");
  range_ = static_cast<std::byte*>(range);
  start_ = range_ + (alignment - reinterpret_cast<std::uintptr_t>(range) % alignment) % alignment;
  if (shared == nullptr) return;
  try {
    (void)map_shared(*shared, shared_bytes, start_);
  } catch (...) {
    munmap(range_, bytes_);
    throw;
  }
}

arena::~arena() { munmap(range_, bytes_); }

}  // namespace starling::host
