#include "ports.hpp"

#include "block_port.hpp"
#include "fault_port.hpp"

namespace starling::host {

std::unique_ptr<host_port> make_port(running& program, int pe, int block) {
  auto port = std::make_unique<block_port>(program, pe, block);
  if (fault_session* faults = program.group().faults.get())
    return std::make_unique<fault_port>(std::move(port), *faults, program, pe, block);
  return port;
}

}  // namespace starling::host
