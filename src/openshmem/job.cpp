#include "job.hpp"

#include <unistd.h>

#include "errors.hpp"
#include "machine/distributed/process_place.hpp"
#include "machine/host/host_backend.hpp"
#include "machine/variables.hpp"
#include "starling/base/environment.hpp"

namespace starling::openshmem {

std::size_t heap_bytes() {
  const std::string wanted = value_of(environment_variables(), "SHMEM_SYMMETRIC_SIZE");
  return wanted.empty() ? environment::read().host_memory : parse_bytes(wanted, "SHMEM_SYMMETRIC_SIZE");
}

std::shared_ptr<host::host_backend> join_job(std::size_t more) {
  const variables v = environment_variables();
  process_place place{0, 1, message("alone/", ::getpid()), "itself"};
  if (is_launched(v)) place = place_of(v);
  distributed_options options;
  options.pes = 1;
  options.poison = false;
  // So that the memory of each PE begins at a multiple of the largest alignment.
  constexpr std::size_t step = host::arena::alignment;
  options.memory_bytes = (heap_bytes() + more + step - 1) / step * step;
  return std::static_pointer_cast<host::host_backend>(make_distributed_backend(options, place));
}

}  // namespace starling::openshmem
