#include "cuda_graph.hpp"

#include "cuda_loop.hpp"
#include "device_guard.hpp"

namespace starling::on_cuda {
namespace {

unique_graph_exec executable(cudaGraph_t recorded, const graph_parts& parts) {
  cudaGraphExec_t graph = nullptr;
  check(cudaGraphInstantiate(&graph, recorded, parts.flags()), "cudaGraphInstantiate");
  return unique_graph_exec(graph);
}

std::size_t nodes_of(cudaGraph_t recorded) {
  std::size_t n = 0;
  check(cudaGraphGetNodes(recorded, nullptr, &n), "cudaGraphGetNodes");
  return n;
}

class cuda_recording final : public recording_backend {
 public:
  cuda_recording(std::shared_ptr<cuda_backend> machine, std::shared_ptr<cuda_stream> origin)
      : machine_(std::move(machine)),
        origin_(std::move(origin)),
        parts_(std::make_shared<graph_parts>(machine_->faults().take())) {
    const device_guard guard(origin_->device().id);
    id_ = machine_->recorded().begin(origin_->get(), origin_->pe(), parts_);
    open_ = true;
  }
  ~cuda_recording() override {
    if (!open_) return;
    cudaGraph_t dropped = nullptr;
    ignore(close(&dropped));
    if (dropped != nullptr) ignore(cudaGraphDestroy(dropped));
  }

  std::shared_ptr<graph_backend> finish() override {
    const device_guard guard(origin_->device().id);
    return std::make_shared<cuda_graph>(machine_, end(), parts_);
  }

  bool finish_into(std::shared_ptr<graph_backend>& g) override {
    const device_guard guard(origin_->device().id);
    unique_graph recorded = end();
    if (auto* there = dynamic_cast<cuda_graph*>(g.get())) return there->become(std::move(recorded), parts_);
    g = std::make_shared<cuda_graph>(machine_, std::move(recorded), parts_);
    return false;
  }

 private:
  unique_graph end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t error = close(&graph);
    unique_graph owned(graph);
    check(error, "machine::record", origin_->pe());
    return owned;
  }

  cudaError_t close(cudaGraph_t* graph) {
    open_ = false;
    const cudaError_t error = cudaStreamEndCapture(origin_->get(), graph);
    machine_->recorded().remove(id_);
    return error;
  }

  std::shared_ptr<cuda_backend> machine_;
  std::shared_ptr<cuda_stream> origin_;
  std::shared_ptr<graph_parts> parts_;
  unsigned long long id_ = 0;
  bool open_ = false;
};

}  // namespace

cuda_graph::cuda_graph(std::shared_ptr<cuda_backend> machine, unique_graph recorded, std::shared_ptr<graph_parts> parts)
    : machine_(std::move(machine)),
      parts_(std::move(parts)),
      recorded_(std::move(recorded)),
      graph_(executable(recorded_.get(), *parts_)),
      operations_(nodes_of(recorded_.get())) {}

std::shared_ptr<graph_backend> cuda_graph::loop(const loop_condition& c) const {
  return make_cuda_loop(machine_, recorded_.get(), parts_, operations_, c);
}

bool cuda_graph::become(unique_graph recorded, std::shared_ptr<graph_parts> parts) {
  const std::size_t operations = nodes_of(recorded.get());
  cudaGraphExecUpdateResultInfo why{};
  const bool same_flags = parts->flags() == parts_->flags();
  const cudaError_t updated =
      same_flags ? cudaGraphExecUpdate(graph_.get(), recorded.get(), &why) : cudaErrorGraphExecUpdateFailure;
  if (is_sticky(updated)) check(updated, "cudaGraphExecUpdate");
  if (updated != cudaSuccess) {
    ignore(updated);
    graph_ = executable(recorded.get(), *parts);
  }
  recorded_ = std::move(recorded);
  parts_ = std::move(parts);
  operations_ = operations;
  return updated == cudaSuccess;
}

std::unique_ptr<recording_backend> start_cuda_recording(std::shared_ptr<cuda_backend> machine, cuda_stream& origin) {
  return std::make_unique<cuda_recording>(std::move(machine), origin.shared_from_this());
}

}  // namespace starling::on_cuda
