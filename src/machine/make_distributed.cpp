// machine::distributed: the processes of a job become one machine, of virtual devices or of GPUs.
#include "make_distributed.hpp"

#include "distributed/board_group.hpp"
#include "distributed/engine_group.hpp"
#include "engine_choice.hpp"
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
  return make_distributed_gpus(options, place, engine_for(place, e), host_for(place, e));
}

std::shared_ptr<backend> make_distributed_gpus(const distributed_options& options, const process_place& place,
                                               std::unique_ptr<engine> carrier, const std::string& host) {
  const environment e = environment::read();
  const int pes = pes_of_process(options, place, e);
  const int gpus = probe_cuda_backend().devices;
  const std::string terms = message(pes * place.size, " GPUs");
  if (carrier == nullptr) {
    auto group = std::make_unique<board_group>(place, terms, 1, e.meeting_deadline);
    return make_distributed_cuda_backend(gpus_of_process(pes, place, e, gpus), std::move(group), nullptr);
  }
  auto group = std::make_unique<engine_group>(place, std::move(carrier), host, terms, 1, e.meeting_deadline);
  engine_group* by_messages = group.get();
  return make_distributed_cuda_backend(gpus_of_process(pes, by_messages->on_system(), e, gpus), std::move(group),
                                       by_messages);
}

}  // namespace starling
