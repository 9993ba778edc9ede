// A loop of recorded work on a GPU: a graph with a conditional node whose body is the work and, behind it, a kernel
// that sets the condition.
#pragma once

#include <memory>

#include "cuda_backend.hpp"
#include "graph_parts.hpp"

namespace starling::on_cuda {

// Null: CUDA cannot make one of this work. `parts` belong to the work.
std::shared_ptr<graph_backend> make_cuda_loop(const std::shared_ptr<cuda_backend>& machine, cudaGraph_t work,
                                              const std::shared_ptr<graph_parts>& parts, std::size_t operations,
                                              const loop_condition& c);

}  // namespace starling::on_cuda
