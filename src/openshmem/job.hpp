// The job that this process belongs to, by the launcher's variables.
#pragma once

#include <cstddef>
#include <memory>

namespace starling::host {
class host_backend;
}

namespace starling::openshmem {

// The machine that its processes share, one PE each, with `more` bytes of memory beside the symmetric heap. A process
// that no launcher has started is a job of its own. Throws what machine::distributed throws.
std::shared_ptr<host::host_backend> join_job(std::size_t more);

// Bytes of the symmetric heap: SHMEM_SYMMETRIC_SIZE, else STARLING_HOST_MEMORY.
std::size_t heap_bytes();

}  // namespace starling::openshmem
