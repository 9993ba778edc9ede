// A recorded graph, ready to be launched. CUDA's stream capture does the recording.
#pragma once

#include "cuda_backend.hpp"
#include "cuda_stream.hpp"

namespace starling::on_cuda {

class cuda_graph final : public graph_backend {
 public:
  cuda_graph(std::shared_ptr<cuda_backend> machine, unique_graph_exec graph, std::shared_ptr<launch_faults> faults)
      : machine_(std::move(machine)), faults_(std::move(faults)), graph_(std::move(graph)) {}

  void launch(stream_backend& s) override {
    as_cuda<cuda_stream>(s, "graph::launch").launch_graph(graph_.get(), faults_);
  }

 private:
  std::shared_ptr<cuda_backend> machine_;
  std::shared_ptr<launch_faults> faults_;
  unique_graph_exec graph_;
};

// Runs `work` with `origin` in recording. Whatever `work` throws ends the recording and goes on to the caller; a stream
// that joined and was not joined back is an argument_error.
std::shared_ptr<graph_backend> record_graph(std::shared_ptr<cuda_backend> machine, cuda_stream& origin,
                                            const std::function<void()>& work);

}  // namespace starling::on_cuda
