#include "ring_memory.hpp"

#include "device_guard.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

unique_memory memory_of(const gpu& g, std::size_t bytes) {
  void* start = nullptr;
  const cudaError_t error = cudaMalloc(&start, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw memory_error(message("trace: ", format_bytes(bytes), " for the blocks' records are not to be had on ",
                               describe(g),
                               "; lower STARLING_TRACE_RECORDS (trace_options::records), use fewer blocks, or free "
                               "arrays"));
  }
  check(error, "cudaMalloc (trace)", g.pe);
  return unique_memory(start);
}

}  // namespace

void ring_memory::prepare(int blocks, std::uint32_t capacity) {
  const bool anew = blocks > blocks_ || capacity != capacity_;
  if (anew) blocks_ = 0;  // until all of it is there
  const auto n = static_cast<std::size_t>(blocks);
  device_guard guard;
  for (const gpu& g : machine_.driven()) {
    rings& r = rings_[static_cast<std::size_t>(g.pe)];
    guard.use(g.id);
    if (anew) {
      r = rings{};
      r.heads = memory_of(g, n * sizeof(trace_ring));
      r.records = memory_of(g, n * capacity * sizeof(trace_record));
      r.handle = {static_cast<trace_ring*>(r.heads.get()), static_cast<trace_record*>(r.records.get()), capacity,
                  pair_shift_of(capacity)};
    }
    check(cudaMemsetAsync(r.handle.heads, 0, n * sizeof(trace_ring), g.service.get()), "cudaMemsetAsync (trace)", g.pe);
    check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (trace)", g.pe);
  }
  if (!anew) return;
  blocks_ = blocks;
  capacity_ = capacity;
}

void ring_memory::collect(program_log& log) const {
  device_guard guard;
  for (const gpu& g : machine_.driven()) {
    const trace_rings from = on(g.pe);
    guard.use(g.id);
    check(cudaMemcpyAsync(&log.head(g.pe, 0), from.heads, static_cast<std::size_t>(log.n_blocks()) * sizeof(trace_ring),
                          cudaMemcpyDefault, g.service.get()),
          "cudaMemcpyAsync (trace)", g.pe);
    check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (trace)", g.pe);
    for (int b = 0; b < log.n_blocks(); ++b)
      check(cudaMemcpyAsync(log.slots(g.pe, b), from.records + static_cast<std::size_t>(b) * from.capacity,
                            log.kept(g.pe, b) * sizeof(trace_record), cudaMemcpyDefault, g.service.get()),
            "cudaMemcpyAsync (trace)", g.pe);
    check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (trace)", g.pe);
  }
}

}  // namespace starling::on_cuda
