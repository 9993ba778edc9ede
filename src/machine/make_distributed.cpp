// machine::distributed: the processes of a job become one machine, of virtual devices or of GPUs.
#include "backend.hpp"
#include "distributed/board_group.hpp"
#include "process_devices.hpp"
#include "starling/base/error.hpp"

namespace starling {

std::shared_ptr<backend> make_distributed_backend(const distributed_options& options) {
  const environment e = environment::read();
  check_several_processes(e);
  const process_place place = place_of(environment_variables());
  if (wanted_kind(options, e) == machine_kind::host) return make_distributed_backend(options, place);
  const int pes = pes_of_process(options, place, e);
  prepare_process_to_share(pes, e);  // before the first call of CUDA, if nobody has made one
  const machine::cuda_status status = probe_cuda_backend();
  if (!on_gpus(options, place, e, status)) return make_distributed_backend(options, place);
  auto group = std::make_unique<board_group>(place, message(pes * place.size, " GPUs"), 1, e.meeting_deadline);
  return make_distributed_cuda_backend(gpus_of_process(pes, place, e, status.devices), std::move(group));
}

}  // namespace starling
