// The job that this process belongs to, by the launcher's variables: the machine of its processes, a PE each, as far as
// OpenSHMEM uses it.
#pragma once

#include <cstddef>
#include <memory>

namespace starling {
class far_memory;
class messenger;
class process_group;
class symmetric_heap;
namespace host {
class host_backend;
class parking;
}  // namespace host
}  // namespace starling

namespace starling::openshmem {

class job {
 public:
  // Collective: returns when all processes have come. There are `more` bytes beside the symmetric heap. A process that
  // no launcher has started is a job of its own. Throws what machine::distributed throws.
  explicit job(std::size_t more);

  int process() const;
  int processes() const;
  process_group& group() const;
  host::parking& lot() const;
  symmetric_heap& heap() const;
  // Whether a PE is of this host, so that its memory is this process's too. The others' is `far`, and their processes
  // get messages; null: there are none.
  bool is_near(int pe) const;
  far_memory* far() const;
  messenger* messages() const;
  // Collective: the place of so many bytes in the memory of each PE. Throws memory_error.
  std::size_t allocate(std::size_t bytes);
  void free(std::size_t offset);
  void meet(const char* call);

  // The memory of each PE begins at a multiple of it.
  static std::size_t alignment();

 private:
  std::shared_ptr<host::host_backend> machine_;
};

// Bytes of the symmetric heap: SHMEM_SYMMETRIC_SIZE, else STARLING_HOST_MEMORY.
std::size_t heap_bytes();

}  // namespace starling::openshmem
