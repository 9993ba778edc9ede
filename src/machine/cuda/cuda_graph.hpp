// A recorded graph, ready to be launched, and the recording that makes one. CUDA's stream capture does the recording.
#pragma once

#include "cuda_backend.hpp"
#include "cuda_stream.hpp"

namespace starling::on_cuda {

class cuda_graph final : public graph_backend {
 public:
  cuda_graph(std::shared_ptr<cuda_backend> machine, unique_graph recorded, std::shared_ptr<graph_parts> parts);

  void launch(stream_backend& s) override {
    as_cuda<cuda_stream>(s, "graph::launch").launch_graph(graph_.get(), parts_);
  }
  std::size_t operations() const override { return operations_; }

  // Does this work from now on; true if CUDA could keep what it had made for the work before. Launches under way are
  // not touched.
  bool become(unique_graph recorded, std::shared_ptr<graph_parts> parts);
  std::shared_ptr<graph_backend> loop(const loop_condition& c) const override;

 private:
  std::shared_ptr<cuda_backend> machine_;
  std::shared_ptr<graph_parts> parts_;
  unique_graph recorded_;
  unique_graph_exec graph_;
  std::size_t operations_;
};

// Puts `origin` into recording.
std::unique_ptr<recording_backend> start_cuda_recording(std::shared_ptr<cuda_backend> machine, cuda_stream& origin);

}  // namespace starling::on_cuda
