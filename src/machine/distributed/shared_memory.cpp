#include "shared_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling {

file new_shared_memory(std::size_t bytes) {
  file made(::memfd_create("starling", MFD_CLOEXEC));
  expect<memory_error>(made.is_open() && ::ftruncate(made.number(), static_cast<off_t>(bytes)) == 0,
                       "machine::distributed: the system gives no shared memory of ", format_bytes(bytes), " (",
                       std::strerror(errno), "); ask for less (STARLING_HOST_MEMORY)");
  return made;
}

std::byte* map_shared(const file& memory, std::size_t bytes, std::byte* at) {
  const int where = at != nullptr ? MAP_FIXED : 0;
  void* range = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | where, memory.number(), 0);
  expect<memory_error>(range != MAP_FAILED, "machine::distributed: ", format_bytes(bytes),
                       " of shared memory cannot be mapped (", std::strerror(errno),
                       "); ask for less (STARLING_HOST_MEMORY)");
  return static_cast<std::byte*>(range);
}

mapping::~mapping() { (void)::munmap(start_, bytes_); }

}  // namespace starling
