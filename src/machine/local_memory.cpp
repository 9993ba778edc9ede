#include "starling/machine/local_memory.hpp"

#include "activity_span.hpp"
#include "backend.hpp"

namespace starling {

local_memory::local_memory(std::shared_ptr<backend> machine, const std::vector<placed_bytes>& pieces)
    : machine_(std::move(machine)) {
  for (const placed_bytes& p : pieces) bytes_ += p.bytes;
  host_activity a;
  a.kind = host_activity::what::allocate;
  a.bytes = bytes_;
  const activity_span span(*machine_, a);
  start_ = machine_->allocate_local(pieces);
}

local_memory::~local_memory() {
  if (!machine_) return;
  host_activity a;
  a.kind = host_activity::what::free;
  const activity_span span(*machine_, a);
  machine_->free_local(start_);
}

}  // namespace starling
