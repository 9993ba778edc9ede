#include "cuda_event.hpp"

#include <chrono>

#include "device_guard.hpp"

namespace starling::on_cuda {
namespace {

double host_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double seconds_between(cudaEvent_t earlier, cudaEvent_t later, int pe) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, earlier, later), "cudaEventElapsedTime", pe);
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace

cuda_event::cuda_event(std::shared_ptr<cuda_backend> machine, int pe, event_use use)
    : machine_(std::move(machine)), pe_(pe), use_(use) {
  const device_guard guard(machine_->machine().on(pe).id);
  event_ = make_event(pe, use_);
}

void cuda_event::record_on(const gpu& g, cudaStream_t stream) {
  if (g.pe != pe_) {  // an event can only be recorded on the GPU that it was made on
    const device_guard guard(g.id);
    event_ = make_event(g.pe, use_);
    pe_ = g.pe;
  }
  check(cudaEventRecord(event_.get(), stream), "cudaEventRecord", pe_);
  recorded_ = true;
}

void cuda_event::record_in(void* native_stream) {
  const gpu& g = machine_->machine().on(pe_);
  const device_guard guard(g.id);  // the stream 0 is that of the current device
  record_on(g, static_cast<cudaStream_t>(native_stream));
}

void cuda_event::hold(void* native_stream) const {
  if (!recorded_) return;
  const device_guard guard(machine_->machine().on(pe_).id);
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(native_stream), event_.get(), 0), "cudaStreamWaitEvent", pe_);
}

bool cuda_event::done() const { return !still_running(cudaEventQuery(event_.get()), "cudaEventQuery", pe_); }

void cuda_event::synchronize() const { check(cudaEventSynchronize(event_.get()), "cudaEventSynchronize", pe_); }

double cuda_event::seconds_since(const event_backend& earlier) const {
  const auto& from = as_cuda<const cuda_event>(earlier, "event::seconds_between");
  expect<argument_error>(from.recorded_ && recorded_ && from.done() && done(),
                         "event::seconds_between: both events must have been recorded and reached; synchronize first");
  if (from.pe_ == pe_) return seconds_between(from.event_.get(), event_.get(), pe_);
  return on_host_clock() - from.on_host_clock();
}

double cuda_event::on_host_clock() const {
  const gpu& g = machine_->machine().on(pe_);
  const device_guard guard(g.id);
  const unique_event now = make_event(pe_, event_use::timing);
  check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize", pe_);  // then recording takes effect at once
  const double before = host_now();
  check(cudaEventRecord(now.get(), g.service.get()), "cudaEventRecord", pe_);
  while (still_running(cudaEventQuery(now.get()), "cudaEventQuery", pe_)) {
  }
  const double after = host_now();
  return (before + after) / 2 - seconds_between(event_.get(), now.get(), pe_);
}

}  // namespace starling::on_cuda
