// A stream on a GPU. Its kernels report faults into a set of its own, which synchronize() reads; what kernels of a
// graph report is found by the stream that launched the graph.
#pragma once

#include <optional>

#include "../activity_span.hpp"
#include "cuda_backend.hpp"

namespace starling::on_cuda {

class cuda_stream final : public stream_backend {
 public:
  cuda_stream(std::shared_ptr<cuda_backend> machine, int pe);
  // Waits for the stream's work: kernels may still report, and each of their waits has a deadline.
  ~cuda_stream() override;

  int pe() const override { return pe_; }
  void launch(int blocks, const kernel& k, const launch_options& options) override;
  void copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                 std::size_t row_bytes, std::size_t rows) override;
  void fill(void* dest, unsigned char byte, std::size_t bytes) override;
  void record(event_backend& e) override;
  void wait(const event_backend& e) override;
  void synchronize() override;

  // One operation of this stream: a recorded graph, whose kernels report to `faults`.
  void launch_graph(cudaGraphExec_t graph, const std::shared_ptr<launch_faults>& faults);

  cudaStream_t get() const { return stream_.get(); }
  const gpu& device() const { return machine_->machine().on(pe_); }

 private:
  // Puts the ordering of an operation into the trace, unless it goes into a graph.
  void trace_into(std::optional<activity_span>& span, const host_activity& a) const;

  std::shared_ptr<cuda_backend> machine_;
  int pe_;
  std::uint32_t number_;  // in the trace
  std::shared_ptr<launch_faults> faults_;
  std::vector<std::shared_ptr<launch_faults>> of_graphs_;  // launched since the last synchronize()
  unique_stream stream_;
};

}  // namespace starling::on_cuda
