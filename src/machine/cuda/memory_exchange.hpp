// Memory of the GPUs of several processes: each makes that of its own PEs, and hands it to the others of its host as
// files.
#pragma once

#include "../distributed/file_exchange.hpp"
#include "device_mapper.hpp"

namespace starling::on_cuda {

class memory_exchange {
 public:
  // Collective; `of_host`: those of this host, with their ranks in order; `deadline` as of file_exchange. Every process
  // drives as many of the PEs.
  memory_exchange(const std::vector<gpu>& gpus, const device_mapper& mapper, process_group& processes,
                  process_group& of_host, double deadline)
      : gpus_(gpus), mapper_(mapper), processes_(processes), files_(of_host, deadline) {}

  // Collective: fresh memory of so many bytes of every PE, by PE, 0 of those of other hosts; the caller lets the
  // handles go. Throws memory_error in all processes where one of them has no memory, and then has taken none; `what`
  // as of device_mapper::map.
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
