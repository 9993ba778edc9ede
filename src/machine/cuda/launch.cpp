#include "launch.hpp"

#include <cmath>

namespace starling::on_cuda {

std::uint64_t nanoseconds(double seconds) { return static_cast<std::uint64_t>(std::llround(seconds * 1e9)); }

void launch(const gpu& g, cudaStream_t stream, const kernel& k, int threads, const program_state& state,
            bool cooperative) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;

  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(state.n_blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads + k.threads_beside));
  config.dynamicSmemBytes = state.scratch_bytes;
  config.stream = stream;
  config.attrs = cooperative ? &attribute : nullptr;
  config.numAttrs = cooperative ? 1 : 0;

  // The parameters of target::entry.
  program_state launched = state;
  launched.threads_beside = k.threads_beside;
  void* arguments[] = {&launched, const_cast<void*>(k.closure.get())};
  check(cudaLaunchKernelExC(&config, k.on_gpu, arguments), "cudaLaunchKernelExC", g.pe);
}

}  // namespace starling::on_cuda
