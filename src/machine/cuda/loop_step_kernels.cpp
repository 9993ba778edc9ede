#include "loop_step.hpp"

namespace starling::on_cuda {
namespace {

__global__ void take_step(loop_step s) {
  const auto* flag = static_cast<const volatile unsigned char*>(s.condition.flag);
  bool again = ++*s.times < s.condition.most;
  if (again && flag != nullptr) {
    again = false;
    for (std::size_t i = 0; i < s.condition.flag_bytes; ++i) again = again || flag[i] != 0;
  }
  cudaGraphSetConditional(s.again, again ? 1 : 0);
}

}  // namespace

cudaError_t add_loop_step(cudaGraph_t graph, cudaGraphNode_t after, const loop_step& step) {
  loop_step argument = step;
  void* arguments[] = {&argument};
  cudaKernelNodeParams p{};
  p.func = reinterpret_cast<void*>(&take_step);
  p.gridDim = dim3(1);
  p.blockDim = dim3(1);
  p.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  return cudaGraphAddKernelNode(&node, graph, &after, 1, &p);
}

}  // namespace starling::on_cuda
