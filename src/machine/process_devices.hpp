// Which devices the PEs of one process of a job are on. Asks no driver.
#pragma once

#include <optional>
#include <vector>

#include "distributed/process_place.hpp"
#include "starling/base/environment.hpp"
#include "starling/machine/machine.hpp"

namespace starling {

// Throws unsupported_error for what is set and is for machines of one process.
void check_several_processes(const environment& e);

// How many PEs each process has. Throws argument_error.
int pes_of_process(const distributed_options& options, const process_place& place, const environment& e);

// How many hardware queues CUDA is asked for where PEs of this process share a GPU (launch_queues.hpp); 0: as many as
// it gives by itself.
int queues_of_process(int pes, const environment& e);
void prepare_process_to_share(int pes, const environment& e);

// What the program asks for, or the environment; nothing: GPUs where there are enough.
std::optional<machine_kind> wanted_kind(const distributed_options& options, const environment& e);

// Whether they are on GPUs, as `status` says there are some. Throws argument_error, unsupported_error.
bool on_gpus(const distributed_options& options, const process_place& place, const environment& e,
             const machine::cuda_status& status);

// The GPU of each, as this process counts them. Where there are enough for all processes (STARLING_PES_PER_GPU
// counted), PEs are given to them in turn; where not, each process is taken to see GPUs of its own. Throws
// argument_error.
std::vector<int> gpus_of_process(int pes, const process_place& place, const environment& e, int gpus);

}  // namespace starling
