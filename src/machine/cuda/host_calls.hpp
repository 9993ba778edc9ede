// Functions of the host among the work of a stream or a graph (stream::call): keeps them until they have run, and what
// the first of them threw until the host asks.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

#include "check.hpp"

namespace starling::on_cuda {

class host_calls {
 public:
  host_calls() = default;
  host_calls(const host_calls&) = delete;
  host_calls& operator=(const host_calls&) = delete;
  // All functions have run, or never will.
  ~host_calls() = default;

  // Puts f on the stream. `once`: it runs once and is not needed after; else it is kept as long as this lives.
  void submit(cudaStream_t stream, int pe, std::function<void()> f, bool once);

  // Whether one has thrown; those that come later are skipped.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // Whether one that runs once has not yet.
  bool pending() const { return !entries_.empty() && !entries_.back().done.load(std::memory_order_acquire); }
  // Throws what the first that threw did throw, and forgets it.
  void throw_first();

 private:
  struct entry {
    entry(std::function<void()> what, host_calls* owner) : f(std::move(what)), of(owner) {}
    std::function<void()> f;
    host_calls* of;
    std::atomic<bool> done{false};
  };
  static void run(void* it) noexcept;

  std::deque<entry> entries_;  // of the thread that submits; CUDA's thread reads single ones
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr problem_;
};

}  // namespace starling::on_cuda
