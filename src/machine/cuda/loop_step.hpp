// The last step of a loop's body on a GPU: says whether the graph does it again.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "starling/machine/stream.hpp"

namespace starling::on_cuda {

struct loop_step {
  cudaGraphConditionalHandle again = 0;
  loop_condition condition;
  std::uint64_t* times = nullptr;  // of this launch, in device memory
};

// The node of one thread that takes the step, behind `after`.
cudaError_t add_loop_step(cudaGraph_t graph, cudaGraphNode_t after, const loop_step& step);

}  // namespace starling::on_cuda
