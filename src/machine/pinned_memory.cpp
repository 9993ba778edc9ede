#include "starling/machine/pinned_memory.hpp"

#include "backend.hpp"

namespace starling {

pinned_memory::pinned_memory(std::shared_ptr<backend> machine, void* start, std::size_t bytes) : start_(start) {
  const auto got = machine->pin(start, bytes);
  held_ = got != backend::pinning::refused;
  if (got == backend::pinning::done) machine_ = std::move(machine);
}

pinned_memory::~pinned_memory() {
  if (machine_) machine_->unpin(start_);
}

}  // namespace starling
