#include "starling/machine/symmetric_array.hpp"

#include "activity_span.hpp"
#include "backend.hpp"

namespace starling {

symmetric_memory::symmetric_memory(std::shared_ptr<backend> machine, std::size_t bytes) : machine_(std::move(machine)) {
  host_activity a;
  a.kind = host_activity::what::allocate;
  a.bytes = bytes;
  const activity_span span(*machine_, a);
  const symmetric_heap::layout& where = machine_->heap().where();
  start_ = machine_->heap().on(machine_->allocate(bytes), 0);
  stride_ = where.stride;
  n_pes_ = where.n_pes;
}

symmetric_memory::~symmetric_memory() {
  if (!machine_) return;
  host_activity a;
  a.kind = host_activity::what::free;
  const activity_span span(*machine_, a);
  machine_->free(static_cast<std::size_t>(start_ - machine_->heap().where().start));
}

void symmetric_memory::swap(symmetric_memory& other) noexcept {
  std::swap(machine_, other.machine_);
  std::swap(start_, other.start_);
  std::swap(stride_, other.stride_);
  std::swap(n_pes_, other.n_pes_);
}

}  // namespace starling
