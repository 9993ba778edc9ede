#include "clock_aligner.hpp"

#include <algorithm>

#include "device_guard.hpp"

namespace starling::on_cuda {
namespace {

constexpr std::size_t line = 256;

std::size_t bytes_for(int n_pes) { return 2 * line + static_cast<std::size_t>(n_pes) * sizeof(clock_reading); }

}  // namespace

clock_aligner::clock_aligner(const parts& machine)
    : machine_(machine), offset_(machine.control.allocate(bytes_for(machine.n_pes()))) {
  const index_t stride = machine_.control.where().stride;
  std::byte* start = machine_.control.on(offset_, 0);
  exchange_.receive_slot = {reinterpret_cast<packet*>(start), stride};
  exchange_.own = {reinterpret_cast<clock_reading*>(start + line), stride};
  exchange_.of_others = {reinterpret_cast<clock_reading*>(start + 2 * line), stride};
}

clock_aligner::~clock_aligner() { machine_.control.free(offset_); }

program clock_aligner::next() {
  device_guard guard;
  for (const gpu& g : machine_.driven()) {
    guard.use(g.id);
    check(cudaMemsetAsync(machine_.control.on(offset_, g.pe), 0, bytes_for(machine_.n_pes()), g.service.get()),
          "cudaMemsetAsync (clock alignment)", g.pe);
    check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (clock alignment)", g.pe);
  }
  program p;
  p.roles.add("clocks", 1);
  p.k = clock_exchange_kernel(exchange_);
  p.options.threads = 32;
  return p;
}

clock_alignment clock_aligner::result(const run_times& ran) const {
  clock_alignment all;
  std::vector<clock_reading> others(machine_.gpus.size());
  device_guard guard;
  guard.use(machine_.driven().front().id);
  check(cudaMemcpy(others.data(), exchange_.of_others.on(0), others.size() * sizeof(clock_reading), cudaMemcpyDefault),
        "cudaMemcpy (clock alignment)", 0);
  for (const gpu& g : machine_.gpus) {
    clock_reading own;
    check(cudaMemcpy(&own, exchange_.own.on(g.pe), sizeof own, cudaMemcpyDefault), "cudaMemcpy (clock alignment)",
          g.pe);
    const clock_reading& other = others[static_cast<std::size_t>(g.pe)];
    const double ns = static_cast<double>(own.last - own.first);
    all.pes.push_back({other.offset, other.error, ns > 0 ? static_cast<double>(own.ticks) / ns : 1.0});
    all.resolution = std::max(all.resolution, static_cast<std::int64_t>(own.resolution));
    if (g.pe != 0) continue;
    // PE 0's first reading came after the host's start, its last one before the host's end.
    const std::uint64_t latest = ran.end - std::min(own.last - own.first, ran.end - ran.start);
    all.host_offset = static_cast<std::int64_t>(own.first - (ran.start + (latest - ran.start) / 2));
    all.host_error = static_cast<std::int64_t>((latest - ran.start + 1) / 2);
  }
  return all;
}

}  // namespace starling::on_cuda
