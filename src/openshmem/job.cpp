#include "job.hpp"

#include <unistd.h>

#include "machine/distributed/process_place.hpp"
#include "machine/host/host_backend.hpp"
#include "machine/host/make_distributed.hpp"
#include "machine/variables.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::openshmem {
namespace {

std::shared_ptr<host::host_backend> join(std::size_t more) {
  const variables v = environment_variables();
  distributed_options options;
  options.pes = 1;
  options.poison = false;
  const auto step = static_cast<index_t>(job::alignment());
  options.memory_bytes = static_cast<std::size_t>(round_up(static_cast<index_t>(heap_bytes() + more), step));
  if (!is_launched(v)) {
    const process_place alone{0, 1, message("alone/", ::getpid()), "itself"};
    return std::static_pointer_cast<host::host_backend>(make_distributed_backend(options, alone, nullptr, ""));
  }
  return std::static_pointer_cast<host::host_backend>(make_distributed_backend(options, place_of(v)));
}

}  // namespace

job::job(std::size_t more) : machine_(join(more)) {}

int job::process() const { return machine_->process(); }
int job::processes() const { return machine_->processes(); }
process_group& job::group() const { return *machine_->group(); }
host::parking& job::lot() const { return machine_->lot(); }
bool job::is_near(int pe) const { return machine_->host_of(pe) == machine_->host_of(process()); }
far_memory* job::far() const { return machine_->far(); }
messenger* job::messages() const {
  return machine_->far() == nullptr ? nullptr : &static_cast<engine_group*>(machine_->group())->messages();
}
symmetric_heap& job::heap() const { return machine_->heap(); }
std::size_t job::allocate(std::size_t bytes) { return machine_->allocate(bytes); }
void job::free(std::size_t offset) { machine_->free(offset); }
void job::meet(const char* call) { machine_->meet(call); }
std::size_t job::alignment() { return host::arena::alignment; }

std::size_t heap_bytes() {
  const std::string wanted = value_of(environment_variables(), "SHMEM_SYMMETRIC_SIZE");
  return wanted.empty() ? environment::read().host_memory : parse_bytes(wanted, "SHMEM_SYMMETRIC_SIZE");
}

}  // namespace starling::openshmem
