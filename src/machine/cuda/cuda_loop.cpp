#include "cuda_loop.hpp"

#include "cuda_stream.hpp"
#include "device_guard.hpp"
#include "loop_step.hpp"

namespace starling::on_cuda {
namespace {

class cuda_loop final : public graph_backend {
 public:
  cuda_loop(unique_graph_exec graph, std::shared_ptr<graph_parts> parts, std::size_t operations)
      : parts_(std::move(parts)), graph_(std::move(graph)), operations_(operations) {}

  void launch(stream_backend& s) override {
    as_cuda<cuda_stream>(s, "graph::launch").launch_graph(graph_.get(), parts_);
  }
  std::size_t operations() const override { return operations_; }

 private:
  std::shared_ptr<graph_parts> parts_;
  unique_graph_exec graph_;
  std::size_t operations_;
};

// Each call's failure means that CUDA cannot, unless the GPU is beyond repair.
bool could(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return true;
  if (is_sticky(error)) check(error, call);
  ignore(error);
  return false;
}

// Whether kernels of a GPU reach the flag.
bool reaches(const cuda_backend& machine, const void* flag) {
  if (flag == nullptr || machine.is_own(flag)) return true;
  cudaPointerAttributes a{};
  return could(cudaPointerGetAttributes(&a, flag), "cudaPointerGetAttributes (graph::loop)") &&
         (a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged);
}

// A conditional node was seen to end with a launch failure where its body copied between GPUs (CUDA 13.0 on H200).
// CUDA takes no waits for words into one.
bool of_one_pe(const graph_parts& parts) {
  return parts.pes.size() <= 1 && parts.meetings.empty() && !parts.waits_for_words;
}

}  // namespace

std::shared_ptr<graph_backend> make_cuda_loop(const std::shared_ptr<cuda_backend>& machine, cudaGraph_t work,
                                              const std::shared_ptr<graph_parts>& parts, std::size_t operations,
                                              const loop_condition& c) {
  if (c.flag != nullptr && machine->is_own(c.flag)) machine->check_bytes("graph::loop (flag)", c.flag, c.flag_bytes);
  if (!of_one_pe(*parts) || !reaches(*machine, c.flag)) return nullptr;
  const int pe = parts->pes.empty() ? 0 : *parts->pes.begin();
  // All kernels of a loop must be of one context, and the step's is of the GPU's, not of the partition's.
  if (machine->machine().on(pe).own) return nullptr;
  const device_guard guard(machine->machine().on(pe).id);

  void* times = nullptr;
  check(cudaMalloc(&times, sizeof(std::uint64_t)), "cudaMalloc (graph::loop)", pe);
  unique_memory counter(times);
  cudaGraph_t created = nullptr;
  check(cudaGraphCreate(&created, 0), "cudaGraphCreate", pe);
  const unique_graph whole(created);

  cudaMemsetParams zero{};
  zero.dst = times;
  zero.elementSize = 4;
  zero.width = sizeof(std::uint64_t) / 4;
  zero.height = 1;
  cudaGraphNode_t start = nullptr;
  check(cudaGraphAddMemsetNode(&start, whole.get(), nullptr, 0, &zero), "cudaGraphAddMemsetNode", pe);

  loop_step step;
  step.condition = c;
  step.times = static_cast<std::uint64_t*>(times);
  if (!could(cudaGraphConditionalHandleCreate(&step.again, whole.get(), 1, cudaGraphCondAssignDefault),
             "cudaGraphConditionalHandleCreate"))
    return nullptr;
  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = step.again;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  if (!could(cudaGraphAddNode(&node, whole.get(), &start, nullptr, 1, &loop), "cudaGraphAddNode (conditional)"))
    return nullptr;
  cudaGraphNode_t child = nullptr;
  cudaGraph_t body = loop.conditional.phGraph_out[0];
  if (!could(cudaGraphAddChildGraphNode(&child, body, nullptr, 0, work), "cudaGraphAddChildGraphNode") ||
      !could(add_loop_step(body, child, step), "cudaGraphAddKernelNode"))
    return nullptr;
  cudaGraphExec_t graph = nullptr;
  if (!could(cudaGraphInstantiate(&graph, whole.get(), parts->flags()), "cudaGraphInstantiate (loop)")) return nullptr;
  unique_graph_exec owned(graph);
  parts->counters.push_back(std::move(counter));
  return std::make_shared<cuda_loop>(std::move(owned), parts, operations);
}

}  // namespace starling::on_cuda
