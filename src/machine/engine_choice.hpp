// Which engine carries the messages of a job.
#pragma once

#include <memory>

#include "distributed/engine.hpp"
#include "distributed/process_place.hpp"
#include "starling/base/environment.hpp"

namespace starling {

// As the environment says, begun in all processes; null: they share memory. Collective. Throws unsupported_error where
// it cannot be had.
std::unique_ptr<engine> engine_for(const process_place& place, const environment& e);
// The host that a process says it is on (engine_group); empty: as the system says.
std::string host_for(const process_place& place, const environment& e);

}  // namespace starling
