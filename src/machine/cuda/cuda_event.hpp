// An event on a GPU. It follows the stream that records it to that stream's GPU.
#pragma once

#include "cuda_backend.hpp"

namespace starling::on_cuda {

class cuda_event final : public event_backend {
 public:
  cuda_event(std::shared_ptr<cuda_backend> machine, int pe, event_use use);

  bool done() const override;
  void synchronize() const override;

  // On one GPU the GPU's own clock, to half a microsecond. Between GPUs each event is placed on the host's clock by
  // recording another one now, so the result is good to some 10 us, less if the events lie minutes back.
  double seconds_since(const event_backend& earlier) const override;

  void record_in(void* native_stream) override;
  void hold(void* native_stream) const override;

  // Records on a stream of this GPU.
  void record_on(const gpu& g, cudaStream_t stream);

  cudaEvent_t get() const { return event_.get(); }
  bool recorded() const { return recorded_; }

 private:
  double on_host_clock() const;

  std::shared_ptr<cuda_backend> machine_;
  int pe_;
  event_use use_;
  unique_event event_;
  bool recorded_ = false;
};

}  // namespace starling::on_cuda
