// The engine `nvshmem`: messages and data by puts of NVSHMEM's host library, into its heap, which is to be in memory
// that the host can read.
//
// NVSHMEM belongs to the process: it is begun with the first engine, and not ended, since that waits for processes that
// may have died; the system does so with the process. None of its collective calls is made but those that begin it, as
// they end the process where several share a GPU.
#pragma once

#include <memory>

#include "../distributed/engine.hpp"
#include "../distributed/process_group.hpp"

namespace starling::nvshmem {

// Collective. `group`: the processes, which tell each other by it how to begin; NVSHMEM's number of each is its rank.
// `file`: the library. Where a process cannot begin, all get the unsupported_error, or the memory_error of a heap that
// is too small.
std::unique_ptr<engine> make_engine(process_group& group, const std::string& file);

}  // namespace starling::nvshmem
