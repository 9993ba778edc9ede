// What the machine knows of the kernels it has met, per GPU: what a block of one needs, and how many blocks one
// multiprocessor holds. Loads a kernel when it first meets it: left to the first launch, loading may wait for kernels
// that already run, and these may be waiting for this one. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu.hpp"
#include "starling/machine/kernel.hpp"

namespace starling::on_cuda {

struct kernel_facts {
  int registers = 0;       // per thread
  int max_threads = 0;     // of a block, with a warp beside its own
  int threads_beside = 0;  // those of that warp
  std::size_t static_shared = 0;
  std::size_t local_bytes = 0;        // per thread, in device memory
  int blocks_per_multiprocessor = 0;  // with these launch options and nothing else running
};

class kernel_table {
 public:
  explicit kernel_table(const std::vector<gpu>& gpus) : gpus_(gpus) {}

  // The kernel is ready to be launched on this PE with these options afterwards. Throws unsupported_error when it has
  // no GPU code, launch_error when a block cannot have that much scratch memory.
  kernel_facts facts(const kernel& k, const launch_options& options, int pe);

  // How much of a multiprocessor's L1 should be shared memory while this kernel runs: per cent of the most
  // there can be, or automatic.
  static constexpr int automatic = -1;
  static constexpr int all_of_it = 100;
  void prefer_shared_memory(const kernel& k, int pe, int per_cent);

 private:
  struct entry {
    bool loaded = false;
    cudaFuncAttributes attributes{};
    int shared_per_cent = automatic;
    std::map<std::pair<int, std::size_t>, int> blocks;  // by threads and scratch bytes
  };

  // The lock is held in these.
  entry& load(const kernel& k, int pe);
  void set_shared_memory(entry& e, const kernel& k, int pe, int per_cent);

  const std::vector<gpu>& gpus_;
  std::mutex mutex_;
  std::unordered_map<const void*, std::vector<entry>> entries_;  // by kernel, then the first PE of the GPU
};

// The dynamic shared memory of a launch: block::scratch hands out multiples of 16 bytes.
inline std::size_t scratch_of(const launch_options& options) { return (options.scratch_bytes + 15) / 16 * 16; }

}  // namespace starling::on_cuda
