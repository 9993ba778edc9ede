// Blocks that are resident together: a thread each, from before the first begins until the last has ended.
#pragma once

#include <string>
#include <vector>

#include "running.hpp"

namespace starling::host {

// Runs all blocks of programs of one group on these PEs. When the system gives too few threads, those that run are
// ended, and what is returned says so; else it is empty.
std::string run_together(const std::vector<running*>& programs, index_range pes);

}  // namespace starling::host
