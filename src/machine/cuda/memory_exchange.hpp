// Memory of the GPUs of several processes: each makes that of its own PEs, and hands it to the others as files.
#pragma once

#include "../distributed/file_exchange.hpp"
#include "device_mapper.hpp"

namespace starling::on_cuda {

class memory_exchange {
 public:
  // Collective; `deadline` as of file_exchange. Every process drives as many of the PEs.
  memory_exchange(const std::vector<gpu>& gpus, const device_mapper& mapper, process_group& processes, double deadline)
      : gpus_(gpus), mapper_(mapper), processes_(processes), files_(processes, deadline) {}

  // Collective: fresh memory of so many bytes of every PE, by PE; the caller lets the handles go. Throws memory_error
  // in all processes where one of them has no memory, and then has taken none; `what` as of device_mapper::map.
  std::vector<CUmemGenericAllocationHandle> create(std::size_t bytes, const std::string& what);

 private:
  std::vector<CUmemGenericAllocationHandle> create_own(std::size_t bytes, const std::string& what,
                                                       std::string& problem);
  void take_from_others(std::vector<CUmemGenericAllocationHandle>& all);

  const std::vector<gpu>& gpus_;
  const device_mapper& mapper_;
  process_group& processes_;
  file_exchange files_;
};

}  // namespace starling::on_cuda
