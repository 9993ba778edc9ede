// Makes the back ends of machine::cuda and of GPUs in several processes.
#include "../gpu_placement.hpp"
#include "../launch_queues.hpp"
#include "cuda_backend.hpp"
#include "sharing_check.hpp"

namespace starling {
namespace {

std::shared_ptr<on_cuda::cuda_backend> backend_on(const on_cuda::cuda_setting& s, bool answer,
                                                  std::unique_ptr<process_group> processes = nullptr,
                                                  engine_group* by_messages = nullptr) {
  auto made = std::make_unique<on_cuda::cuda_backend>(s, std::move(processes), by_messages);
  // Memory that a kernel still uses cannot be given back: CUDA would wait for the kernel, perhaps for ever. It is kept
  // until the process ends.
  std::shared_ptr<on_cuda::cuda_backend> b(made.release(), [](on_cuda::cuda_backend* old) {
    if (old->becomes_idle()) delete old;
  });
  if (answer) b->try_sharing();
  return b;
}

// A machine of which PEs share GPUs.
std::shared_ptr<on_cuda::cuda_backend> shared_backend(on_cuda::cuda_setting s, bool answer) {
  if (s.how != gpu_sharing::automatic) return backend_on(s, answer);
  std::string refused;
  try {
    s.how = gpu_sharing::partitions;
    return backend_on(s, answer);
  } catch (const unsupported_error& problem) {
    refused = problem.what();
  } catch (const launch_error& problem) {
    refused = problem.what();
  } catch (const device_error& problem) {
    refused = problem.what();
  }
  s.how = gpu_sharing::plain;
  auto b = backend_on(s, answer);
  b->add_remark("they share plainly, for " + refused);
  return b;
}

}  // namespace

std::shared_ptr<backend> make_cuda_backend(const std::vector<int>& ids, const cuda_options& options) {
  const environment e = environment::read();
  const variables before = environment_variables();
  if (may_share(ids, options, e)) prepare_to_share();  // before the first call of CUDA, if nobody has made one
  const machine::cuda_status status = probe_cuda_backend();
  expect<unsupported_error>(status.problem.empty(), "machine::cuda: ", status.problem, "; ", status.remedy);
  const std::vector<int> placement = place_pes(ids, options, e, status.devices);
  const int most = most_on_one(placement);
  network::check_queue_depth("machine::cuda", options.queue_depth);
  const network::host_layout hosts =
      network::layout_of("machine::cuda", options.hosts, static_cast<int>(placement.size()), e);
  on_cuda::cuda_setting s{placement,          gpu_sharing::plain, e.deadline, hosts, network::card_of(options.card, e),
                          options.queue_depth};
  if (most == 1) return backend_on(s, false);
  const bool in_use = on_cuda::has_context(placement);
  s.how = sharing_of(options, e);
  auto b = shared_backend(s, options.answer);
  b->add_remark(too_few_queues(queues_set(in_use ? before : environment_variables()), most, in_use));
  return b;
}

std::shared_ptr<backend> make_distributed_cuda_backend(const std::vector<int>& placement,
                                                       std::unique_ptr<process_group> processes,
                                                       engine_group* by_messages) {
  const environment e = environment::read();
  on_cuda::cuda_setting s;
  if (by_messages != nullptr) {
    std::vector<int> hosts;
    for (const int host : by_messages->hosts()) hosts.insert(hosts.end(), placement.size(), host);
    s.hosts = network::host_layout(hosts);
    s.card = card::proxy;
  }
  s.placement = placement;
  s.deadline = e.deadline;
  s.meeting_deadline = e.meeting_deadline;
  // Whether PEs that share a GPU answer each other is asked by stores.
  return backend_on(s, s.hosts.one_host(), std::move(processes), by_messages);
}

}  // namespace starling
