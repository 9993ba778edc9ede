#include "process_devices.hpp"

#include <algorithm>

#include "launch_queues.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {

constexpr const char* making_call = "machine::distributed";

bool enough_for_all(int pes, const process_place& place, const environment& e, int gpus) {
  return static_cast<std::int64_t>(gpus) * e.pes_per_gpu >= static_cast<std::int64_t>(pes) * place.size;
}

}  // namespace

void check_several_processes(const environment& e) {
  expect<unsupported_error>(e.check_seeds == 0, making_call,
                            ": STARLING_CHECK is set, and check mode is for one process; make the machine with "
                            "machine::host(n), or unset it");
  expect<unsupported_error>(e.hosts == 1, making_call,
                            ": STARLING_HOSTS is set, and several hosts are played by one process; make the machine "
                            "with machine::host(n), or unset it");
}

int pes_of_process(const distributed_options& options, const process_place& place, const environment& e) {
  constexpr int most = 256;
  expect<argument_error>(options.pes >= 0 && options.pes <= most / place.size, making_call, ": pes = ", options.pes,
                         " in each of ", place.size, " processes; must be at least 1, and at most ", most,
                         " in all, or 0 to choose");
  return options.pes > 0 ? options.pes : e.devices > 0 ? pes_of_each(e.devices) : 1;
}

int queues_of_process(int pes, const environment& e) {
  const int on_gpu = std::min(pes, e.pes_per_gpu);
  return on_gpu > 1 ? queues_needed(on_gpu) : 0;
}

void prepare_process_to_share(int pes, const environment& e) {
  if (const int queues = queues_of_process(pes, e); queues > 0) prepare_to_share(queues);
}

std::optional<machine_kind> wanted_kind(const distributed_options& options, const environment& e) {
  if (options.kind) return options.kind;
  if (e.distributed == "auto") return std::nullopt;
  return e.distributed == "cuda" ? machine_kind::cuda : machine_kind::host;
}

bool on_gpus(const distributed_options& options, const process_place& place, const environment& e,
             const machine::cuda_status& status) {
  const std::optional<machine_kind> wanted = wanted_kind(options, e);
  if (wanted == machine_kind::cuda) {
    expect<unsupported_error>(status.problem.empty(), making_call, ": ", status.problem, "; ", status.remedy,
                              ", or use virtual devices (STARLING_DISTRIBUTED=host)");
    return true;
  }
  return !wanted && status.problem.empty() && !place.several_hosts && !e.messages_alone() &&
         enough_for_all(pes_of_process(options, place, e), place, e, status.devices);
}

std::vector<int> gpus_of_process(int pes, const process_place& place, const environment& e, int gpus) {
  std::vector<int> all;
  if (enough_for_all(pes, place, e, gpus)) {
    for (int i = 0; i < pes; ++i) all.push_back((place.rank * pes + i) / e.pes_per_gpu);
    return all;
  }
  expect<argument_error>(pes <= gpus * e.pes_per_gpu, making_call, ": process ", place.rank, " of ", place.size,
                         " has ", pes, " PEs and sees ", gpus,
                         " GPUs; let several PEs share a GPU (STARLING_PES_PER_GPU), or ask for "
                         "fewer");
  for (int i = 0; i < pes; ++i) all.push_back(i / e.pes_per_gpu);
  return all;
}

}  // namespace starling
