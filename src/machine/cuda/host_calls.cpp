#include "host_calls.hpp"

#include <utility>

namespace starling::on_cuda {

void host_calls::submit(cudaStream_t stream, int pe, std::function<void()> f, bool once) {
  // What f holds goes here: on CUDA's thread its destructors could not call CUDA.
  if (once)
    while (!entries_.empty() && entries_.front().done.load(std::memory_order_acquire)) entries_.pop_front();
  entry& e = entries_.emplace_back(std::move(f), this);
  const cudaError_t error = cudaLaunchHostFunc(stream, &host_calls::run, &e);
  if (error != cudaSuccess) entries_.pop_back();
  check(error, "cudaLaunchHostFunc (stream::call)", pe);
}

void host_calls::run(void* it) noexcept {
  entry& e = *static_cast<entry*>(it);
  host_calls& all = *e.of;
  if (!all.failed()) {
    try {
      e.f();
    } catch (...) {
      const std::lock_guard lock(all.mutex_);
      if (!all.problem_) all.problem_ = std::current_exception();
      all.failed_.store(true, std::memory_order_release);
    }
  }
  e.done.store(true, std::memory_order_release);
}

void host_calls::throw_first() {
  if (!failed()) return;
  std::exception_ptr problem;
  {
    const std::lock_guard lock(mutex_);
    problem = std::exchange(problem_, nullptr);
    failed_.store(false, std::memory_order_release);
  }
  if (problem) std::rethrow_exception(problem);
}

}  // namespace starling::on_cuda
