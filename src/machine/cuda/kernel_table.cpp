#include "kernel_table.hpp"

#include "device_guard.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {

kernel_table::entry& kernel_table::load(const kernel& k, int pe) {
  expect<unsupported_error>(k.on_gpu != nullptr,
                            "this kernel was compiled for virtual devices only: build its source with nvcc "
                            "(starling_kernels() in CMake, STARLING_CUDA=on)");
  std::vector<entry>& all = entries_[k.on_gpu];
  all.resize(gpus_.size());
  entry& e = all[static_cast<std::size_t>(gpus_[static_cast<std::size_t>(pe)].first_pe)];
  if (!e.loaded) {
    const device_guard guard(gpus_[static_cast<std::size_t>(pe)].id);
    check(cudaFuncGetAttributes(&e.attributes, k.on_gpu), "cudaFuncGetAttributes (loading a kernel)", pe);
    e.loaded = true;
  }
  return e;
}

kernel_facts kernel_table::facts(const kernel& k, const launch_options& options, int pe) {
  const std::lock_guard lock(mutex_);
  entry& e = load(k, pe);
  const gpu& g = gpus_[static_cast<std::size_t>(pe)];
  const std::size_t scratch = scratch_of(options);
  kernel_facts f{e.attributes.numRegs,         e.attributes.maxThreadsPerBlock, k.threads_beside,
                 e.attributes.sharedSizeBytes, e.attributes.localSizeBytes,     0};
  if (const auto known = e.blocks.find({options.threads, scratch}); known != e.blocks.end()) {
    f.blocks_per_multiprocessor = known->second;
    return f;
  }
  const std::size_t most = g.properties.sharedMemPerBlockOptin - f.static_shared;
  expect<launch_error>(scratch <= most, "launch_options: scratch_bytes = ", options.scratch_bytes, "; a block of this ",
                       "kernel has at most ", most, " on ", describe(g));
  set_shared_memory(e, k, pe, automatic);  // the answer below depends on it
  const device_guard guard(g.id);
  if (scratch > static_cast<std::size_t>(e.attributes.maxDynamicSharedSizeBytes)) {
    check(cudaFuncSetAttribute(k.on_gpu, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most)),
          "cudaFuncSetAttribute (scratch memory)", pe);
    e.attributes.maxDynamicSharedSizeBytes = static_cast<int>(most);
  }
  const int threads = options.threads + f.threads_beside;
  if (threads <= f.max_threads)  // more threads need more registers than there are: no block fits
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&f.blocks_per_multiprocessor, k.on_gpu, threads, scratch),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor", pe);
  e.blocks.emplace(std::pair(options.threads, scratch), f.blocks_per_multiprocessor);
  return f;
}

void kernel_table::prefer_shared_memory(const kernel& k, int pe, int per_cent) {
  const std::lock_guard lock(mutex_);
  set_shared_memory(load(k, pe), k, pe, per_cent);
}

void kernel_table::set_shared_memory(entry& e, const kernel& k, int pe, int per_cent) {
  if (e.shared_per_cent == per_cent) return;
  const device_guard guard(gpus_[static_cast<std::size_t>(pe)].id);
  check(cudaFuncSetAttribute(k.on_gpu, cudaFuncAttributePreferredSharedMemoryCarveout, per_cent),
        "cudaFuncSetAttribute (shared memory carveout)", pe);
  e.shared_per_cent = per_cent;
}

}  // namespace starling::on_cuda
