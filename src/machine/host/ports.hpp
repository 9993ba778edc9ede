// The one place where the port of a block is made: what carries out its calls, and in front of it the faults that are
// injected.
#pragma once

#include <memory>

#include "running.hpp"
#include "starling/device/host_port.hpp"

namespace starling::host {

std::unique_ptr<host_port> make_port(running& program, int pe, int block);

}  // namespace starling::host
