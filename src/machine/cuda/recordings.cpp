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

void recordings::add(unsigned long long id, std::shared_ptr<launch_faults> faults) {
  const std::lock_guard lock(mutex_);
  by_id_.emplace(id, std::move(faults));
}

void recordings::remove(unsigned long long id) {
  const std::lock_guard lock(mutex_);
  by_id_.erase(id);
}

std::shared_ptr<launch_faults> recordings::find(unsigned long long id) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  expect<argument_error>(found != by_id_.end(),
                         "stream::launch: the stream takes part in a recording that Starling did "
                         "not begin; record with machine::record");
  return found->second;
}

}  // namespace starling::on_cuda
