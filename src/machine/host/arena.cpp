#include "arena.hpp"

#include <sys/mman.h>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::host {

arena::arena(std::size_t bytes, std::size_t own) : bytes_(bytes) {
  void* range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  expect<memory_error>(range != MAP_FAILED, "virtual devices: addresses for ", format_bytes(own), " of memory, and ",
                       format_bytes(bytes - own),
                       " beside it, are not to be had; ask for fewer devices or less memory each "
                       "(STARLING_HOST_MEMORY)");
  start_ = static_cast<std::byte*>(range);
}

arena::~arena() { munmap(start_, bytes_); }

}  // namespace starling::host
