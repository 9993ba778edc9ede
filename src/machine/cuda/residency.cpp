#include "residency.hpp"

#include <cuda_occupancy.h>

#include <algorithm>
#include <limits>

#include "../gpu_shares.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

// The most that a block of a run needs of each resource.
struct demand {
  int threads = 0;
  int beside = 0;  // of these, in a warp beside the kernel's own
  int registers = 0;
  int max_threads = 1024;
  std::size_t static_shared = 0;
  std::size_t scratch = 0;

  void cover(const kernel_facts& f, const launch_options& options) {
    threads = std::max(threads, options.threads + f.threads_beside);
    beside = std::max(beside, f.threads_beside);
    registers = std::max(registers, f.registers);
    max_threads = std::min(max_threads, f.max_threads);
    static_shared = std::max(static_shared, f.static_shared);
    scratch = std::max(scratch, scratch_of(options));
  }
};

demand demand_on(const gpu& g, kernel_table& kernels, const std::vector<program>& programs) {
  demand most;
  for (const program& p : programs) most.cover(kernels.facts(p.k, p.options, g.pe), p.options);
  return most;
}

// NVIDIA's calculator: what the driver would answer for a kernel with these needs.
cudaOccResult calculate(const gpu& g, const demand& d) {
  const cudaOccDeviceProp device(g.properties);
  cudaOccFuncAttributes block;
  block.maxThreadsPerBlock = d.max_threads;
  block.numRegs = d.registers;
  block.sharedSizeBytes = d.static_shared;
  block.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  block.maxDynamicSharedSizeBytes = g.properties.sharedMemPerBlockOptin - d.static_shared;
  block.numBlockBarriers = 1;
  cudaOccDeviceState state;
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  if (d.threads > d.max_threads) return result;  // no block fits
  const cudaOccError error =
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &block, &state, d.threads, d.scratch);
  expect<unsupported_error>(error == CUDA_OCC_SUCCESS, "machine::run: the occupancy of ", describe(g),
                            " is not known to CUDA ", CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10,
                            "; run one program at a time, or build with a newer CUDA toolkit");
  return result;
}

// For errors: what a block takes of a multiprocessor, and which of it runs out first.
std::string limits(const gpu& g, const demand& d) {
  const cudaDeviceProp& p = g.properties;
  const unsigned by = calculate(g, d).limitingFactors;
  std::string first;
  const auto name = [&](unsigned factor, const char* text) {
    if ((by & factor) != 0) first += (first.empty() ? "" : " and ") + std::string(text);
  };
  name(OCC_LIMIT_WARPS, "threads");
  name(OCC_LIMIT_REGISTERS, "registers");
  name(OCC_LIMIT_SHARED_MEMORY, "shared memory");
  name(OCC_LIMIT_BLOCKS, "the number of blocks");
  if (d.threads > d.max_threads) first = "registers";
  return message("a block takes ", d.threads, " of ", p.maxThreadsPerMultiProcessor, " threads, ", d.registers, " x ",
                 d.threads, " of ", p.regsPerMultiprocessor, " registers and ",
                 format_bytes(d.static_shared + d.scratch + p.reservedSharedMemPerBlock), " of ",
                 format_bytes(p.sharedMemPerMultiprocessor), " shared memory",
                 first.empty() ? "" : "; limited by " + first);
}

}  // namespace

bool launches_cooperatively(const gpu& g, const kernel& k) { return g.has_own_multiprocessors() && !k.can_launch; }

residency residency_on(const gpu& g, kernel_table& kernels, const std::vector<program>& programs) {
  residency r;
  for (const program& p : programs) r.blocks_wanted += p.roles.blocks();
  const bool alone = g.has_own_multiprocessors();
  // A multiprocessor takes as many blocks of any mixture as of the program of which it takes the fewest: so many are
  // within every resource, whichever blocks they are. Of one program the driver knows how many.
  int fewest = std::numeric_limits<int>::max();
  if (programs.size() == 1) {
    const program& p = programs.front();
    fewest = kernels.facts(p.k, p.options, g.pe).blocks_per_multiprocessor;
    if (launches_cooperatively(g, p.k)) {
      r.blocks_that_fit = fewest * g.info.multiprocessors;
      return r;
    }
  } else {
    for (const program& p : programs)
      fewest = std::min(fewest, calculate(g, demand_on(g, kernels, {p})).activeBlocksPerMultiprocessor);
  }
  const shared_blocks s =
      alone ? blocks_of_shares(fewest, g.info.multiprocessors, 1, r.blocks_wanted)
            : blocks_of_shares(fewest, g.properties.multiProcessorCount, g.info.pes_on_gpu, r.blocks_wanted);
  r.blocks_that_fit = s.fit;
  const demand most = demand_on(g, kernels, programs);
  // Enough shared memory for the blocks that a multiprocessor must take, and the rest left to the cache.
  const cudaDeviceProp& p = g.properties;
  const auto blocks = static_cast<std::size_t>(s.crowded);
  const std::size_t bytes =
      blocks * (most.static_shared + most.scratch + p.reservedSharedMemPerBlock + 255) / 256 * 256;
  r.shared_memory = static_cast<int>(
      std::min<std::size_t>(100, (100 * bytes + p.sharedMemPerMultiprocessor - 1) / p.sharedMemPerMultiprocessor));
  return r;
}

namespace {

[[noreturn]] void refuse(const char* call, const gpu& g, const residency& r, const demand& most, bool several) {
  const std::string next =
      r.blocks_that_fit > 0
          ? message("ask for at most ", r.blocks_that_fit, " blocks, so fewer blocks, threads or scratch bytes")
          : message("ask for at most ", most.max_threads - most.beside, " threads, or fewer scratch bytes");
  throw launch_error(message(
      call, ": ", r.blocks_wanted, " blocks per PE wanted, ", describe(g), " holds ", r.blocks_that_fit, " at once (",
      g.info.multiprocessors, " multiprocessors",
      g.shared() ? message(" of ", g.properties.multiProcessorCount, ", which ", g.info.pes_on_gpu, " PEs share")
                 : std::string(),
      "; ", limits(g, most), several ? "; with several programs every block counts as the most demanding one" : "",
      "); ", next));
}

}  // namespace

void require_residency(std::span<const gpu> gpus, kernel_table& kernels, const std::vector<program>& programs) {
  for (const gpu& g : gpus) {
    const residency r = residency_on(g, kernels, programs);
    if (r.blocks_wanted > r.blocks_that_fit)
      refuse("machine::run", g, r, demand_on(g, kernels, programs), programs.size() > 1);
  }
}

int blocks_of_launch(const gpu& g, kernel_table& kernels, const kernel& k, const launch_options& options) {
  const kernel_facts f = kernels.facts(k, options, g.pe);
  if (f.blocks_per_multiprocessor > 0) return f.blocks_per_multiprocessor * g.info.multiprocessors;
  demand d;
  d.cover(f, options);
  throw launch_error(message("stream::launch: no block of this kernel fits on ", describe(g), " (", limits(g, d),
                             "); ask for at most ", f.max_threads - f.threads_beside,
                             " threads, or less scratch memory"));
}

void refuse_resident_launch(const gpu& g, kernel_table& kernels, const kernel& k, const launch_options& options,
                            int blocks) {
  residency r;
  r.blocks_wanted = blocks;
  r.blocks_that_fit = blocks_of_launch(g, kernels, k, options);
  demand d;
  d.cover(kernels.facts(k, options, g.pe), options);
  refuse("stream::launch", g, r, d, false);
}

}  // namespace starling::on_cuda
