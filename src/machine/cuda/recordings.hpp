// The recordings of graphs under way, and what belongs to the graph that each will be. CUDA numbers them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "graph_parts.hpp"

namespace starling::on_cuda {

// The number of the recording that a stream takes part in, if it does.
std::optional<unsigned long long> recording_of(cudaStream_t stream, int pe);

class recordings {
 public:
  // Whether there is any. Takes no lock: streams ask at each operation.
  bool any() const { return open_.load(std::memory_order_acquire) > 0; }

  // Begins to record what goes into the stream, whose device is current; the number of the recording.
  unsigned long long begin(cudaStream_t stream, int pe, std::shared_ptr<graph_parts> parts);
  void remove(unsigned long long id) noexcept;
  // What belongs to the recording that the stream takes part in; null: to none that is known here.
  std::shared_ptr<graph_parts> of(cudaStream_t stream, int pe) const;

  // Calls f unless something is being recorded; nothing begins to be meanwhile.
  template <class F>
  void when_none(const F& f) const {
    const std::lock_guard lock(mutex_);
    if (!any()) f();
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<int> open_{0};
  std::map<unsigned long long, std::shared_ptr<graph_parts>> by_id_;
};

}  // namespace starling::on_cuda
