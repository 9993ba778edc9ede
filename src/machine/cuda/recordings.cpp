#include "recordings.hpp"

#include "starling/base/error.hpp"

namespace starling::on_cuda {

std::optional<unsigned long long> recording_of(cudaStream_t stream, int pe) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, &id), "cudaStreamGetCaptureInfo", pe);
  if (status != cudaStreamCaptureStatusActive) return std::nullopt;
  return id;
}

unsigned long long recordings::begin(cudaStream_t stream, int pe, std::shared_ptr<graph_parts> parts) {
  const std::lock_guard lock(mutex_);
  expect<argument_error>(!recording_of(stream, pe), "machine::record: this stream is being recorded already");
  // Relaxed: only what goes into taking-part streams is recorded; other calls of this and other threads stay allowed.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture", pe);
  try {
    const unsigned long long id = recording_of(stream, pe).value();
    by_id_.emplace(id, std::move(parts));
    open_.fetch_add(1, std::memory_order_release);
    return id;
  } catch (...) {
    cudaGraph_t dropped = nullptr;
    ignore(cudaStreamEndCapture(stream, &dropped));
    if (dropped != nullptr) ignore(cudaGraphDestroy(dropped));
    throw;
  }
}

void recordings::remove(unsigned long long id) noexcept {
  const std::lock_guard lock(mutex_);
  if (by_id_.erase(id) > 0) open_.fetch_sub(1, std::memory_order_release);
}

std::shared_ptr<graph_parts> recordings::of(cudaStream_t stream, int pe) const {
  if (!any()) return nullptr;
  const auto id = recording_of(stream, pe);
  if (!id) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(*id);
  expect<argument_error>(found != by_id_.end(),
                         "stream: it takes part in a recording that Starling did not begin; record with "
                         "machine::record or machine::start_recording");
  return found->second;
}

}  // namespace starling::on_cuda
