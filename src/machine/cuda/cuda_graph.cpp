#include "cuda_graph.hpp"

#include "device_guard.hpp"

namespace starling::on_cuda {
namespace {

// One recording, ended in every case.
class capture {
 public:
  capture(recordings& all, const cuda_stream& origin, const std::shared_ptr<launch_faults>& faults)
      : capture(all, origin) {  // from here on the destructor ends what has begun
    // Relaxed: only what goes into taking-part streams is recorded; other calls of this and other threads stay allowed.
    check(cudaStreamBeginCapture(origin_.get(), cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture", origin_.pe());
    open_ = true;
    id_ = recording_of(origin_.get(), origin_.pe()).value();
    all_.add(id_, faults);
  }
  capture(const capture&) = delete;
  capture& operator=(const capture&) = delete;
  ~capture() {
    if (!open_) return;
    cudaGraph_t dropped = nullptr;
    ignore(close(&dropped));
    if (dropped != nullptr) ignore(cudaGraphDestroy(dropped));
  }

  unique_graph finish() {
    cudaGraph_t graph = nullptr;
    const cudaError_t error = close(&graph);
    unique_graph owned(graph);
    check(error, "machine::record", origin_.pe());
    return owned;
  }

 private:
  capture(recordings& all, const cuda_stream& origin) : all_(all), origin_(origin) {}

  cudaError_t close(cudaGraph_t* graph) {
    open_ = false;
    all_.remove(id_);
    return cudaStreamEndCapture(origin_.get(), graph);
  }

  recordings& all_;
  const cuda_stream& origin_;
  unsigned long long id_ = 0;
  bool open_ = false;
};

}  // namespace

std::shared_ptr<graph_backend> record_graph(std::shared_ptr<cuda_backend> machine, cuda_stream& origin,
                                            const std::function<void()>& work) {
  const device_guard guard(origin.device().id);
  expect<argument_error>(!recording_of(origin.get(), origin.pe()),
                         "machine::record: this stream is being recorded already");
  const std::shared_ptr<launch_faults> faults = machine->faults().take();
  const unique_graph recorded = [&] {
    capture c(machine->recorded(), origin, faults);
    work();
    return c.finish();
  }();
  cudaGraphExec_t graph = nullptr;
  check(cudaGraphInstantiate(&graph, recorded.get(), 0), "cudaGraphInstantiate", origin.pe());
  return std::make_shared<cuda_graph>(std::move(machine), unique_graph_exec(graph), faults);
}

}  // namespace starling::on_cuda
