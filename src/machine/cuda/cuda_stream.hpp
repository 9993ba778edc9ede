// A stream on a GPU. Its kernels report faults into a set of its own, which synchronize() reads; what kernels of a
// graph report is found by the stream that launched the graph.
#pragma once

#include <array>
#include <optional>

#include "../activity_span.hpp"
#include "cuda_backend.hpp"
#include "graph_parts.hpp"

namespace starling::on_cuda {

class cuda_stream final : public stream_backend, public std::enable_shared_from_this<cuda_stream> {
 public:
  cuda_stream(std::shared_ptr<cuda_backend> machine, int pe, int priority = 0);
  // Waits for the stream's work: kernels may still report, and each of their waits has a deadline.
  ~cuda_stream() override;

  int pe() const override { return pe_; }
  void launch(int blocks, const kernel& k, const launch_options& options) override;
  void launch_with(int blocks, const kernel& k, const launch_options& options,
                   const std::shared_ptr<const launch_copies>& copies) override;
  void copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                 std::size_t row_bytes, std::size_t rows) override;
  void fill(void* dest, unsigned char byte, std::size_t bytes) override;
  void call(std::function<void()> f) override;
  void record(event_backend& e) override;
  void wait(const event_backend& e) override;
  void synchronize() override;
  bool keep_with_recording(std::shared_ptr<void> what) override;
  void* native() const override { return get(); }

  // One operation of this stream: a recorded graph, with what belongs to it.
  void launch_graph(cudaGraphExec_t graph, const std::shared_ptr<graph_parts>& parts);

  cudaStream_t get() const { return stream_.get(); }
  const gpu& device() const { return machine_->machine().on(pe_); }

 private:
  // Puts the ordering of an operation into the trace, unless it goes into a graph.
  void trace_into(std::optional<activity_span>& span, const host_activity& a) const;
  // The recording that the stream takes part in; null: none.
  std::shared_ptr<graph_parts> recording() const { return machine_->recorded().of(get(), pe_); }
  // That work of the stream is part of it.
  void note_in(graph_parts& recorded) const;
  // How many blocks of the kernel fit at once; remembered, so that streams do not meet at the kernel table.
  int blocks_that_fit(const kernel& k, const launch_options& options);
  void keep(const std::shared_ptr<graph_parts>& parts);
  void let_go();

  struct known_kernel {
    const void* kernel = nullptr;
    int threads = 0;
    std::size_t scratch = 0;
    int blocks = 0;
  };
  // A stream for copies that launches set off, and when it has made those of the last one.
  struct copy_stream {
    unique_stream stream;
    unique_event done;
  };
  void prepare_copies(const launch_copies& copies);
  void put(const copy_step& s, cudaStream_t stream) const;
  // A graph that was launched, and when the last of its launches has ended, once another one has followed.
  struct launched_graph {
    std::shared_ptr<graph_parts> parts;
    unique_event ended;
  };

  std::shared_ptr<cuda_backend> machine_;
  int pe_;
  int priority_;
  std::uint32_t number_;  // in the trace
  std::shared_ptr<launch_faults> faults_;
  std::unique_ptr<host_calls> calls_ = std::make_unique<host_calls>();
  std::vector<launched_graph> of_graphs_;  // since the last synchronize(), the newest last
  std::array<known_kernel, 64> known_;     // by a part of the kernel's address
  unique_stream stream_;
  unique_event launching_;           // what launches that set off copies come after
  std::vector<copy_stream> beside_;  // for their copies
};

}  // namespace starling::on_cuda
