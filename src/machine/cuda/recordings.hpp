// The recordings of graphs under way, and where kernels that they record are to report faults. CUDA numbers them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "launch_faults.hpp"

namespace starling::on_cuda {

// The number of the recording that a stream takes part in, if it does.
std::optional<unsigned long long> recording_of(cudaStream_t stream, int pe);

class recordings {
 public:
  void add(unsigned long long id, std::shared_ptr<launch_faults> faults);
  void remove(unsigned long long id);
  // Throws argument_error for a recording that machine::record did not begin.
  std::shared_ptr<launch_faults> find(unsigned long long id) const;

 private:
  mutable std::mutex mutex_;
  std::map<unsigned long long, std::shared_ptr<launch_faults>> by_id_;
};

}  // namespace starling::on_cuda
