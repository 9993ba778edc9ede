// Whether PEs that share a GPU can work as a machine's PEs must: their kernels run at the same time. Asked once, when
// the machine is made.
#pragma once

#include "parts.hpp"
#include "program_runner.hpp"

namespace starling::on_cuda {

// Whether PEs of the machine share a GPU.
bool any_shared(const std::vector<gpu>& gpus);

// Runs a block on every PE, each of which waits for another. Throws launch_error, which names what is set that may
// cause it, when they have not answered after a second.
void require_answers(const parts& machine, program_runner& runner);

}  // namespace starling::on_cuda
