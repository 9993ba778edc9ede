// The GPUs of a machine of several processes: each opens its own, and tells the others what they are.
#include <algorithm>
#include <array>
#include <cstring>

#include "../gpu_shares.hpp"
#include "device_guard.hpp"
#include "gpu.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

constexpr const char* making_call = "machine::distributed";

// What a process tells of one of its PEs.
struct gpu_facts {
  std::array<char, 16> number;  // the same in all processes: its UUID
  std::array<char, 80> name;
  std::int32_t id;
  std::int32_t multiprocessors;
  std::int32_t compute_capability;
  std::uint64_t memory_bytes;
  std::uint64_t scratch_bytes;
};

gpu_facts facts_of(const gpu& g) {
  gpu_facts f{};
  std::memcpy(f.number.data(), g.properties.uuid.bytes, f.number.size());
  std::memcpy(f.name.data(), g.info.name.data(), std::min(g.info.name.size(), f.name.size() - 1));
  f.id = g.info.id;
  f.multiprocessors = g.info.multiprocessors;
  f.compute_capability = g.info.compute_capability;
  f.memory_bytes = g.info.memory_bytes;
  f.scratch_bytes = g.info.scratch_bytes;
  return f;
}

// The GPU of that number as this process counts them; -1: it does not see it.
int ordinal_of(const std::array<char, 16>& number) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  for (int id = 0; id < devices; ++id) {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, id), "cudaGetDeviceProperties");
    if (std::memcmp(p.uuid.bytes, number.data(), number.size()) == 0) return id;
  }
  return -1;
}

gpu of_other_process(int pe, const gpu_facts& f) {
  gpu g;
  g.pe = pe;
  g.id = ordinal_of(f.number);
  g.driven = false;
  g.info.name = f.name.data();
  g.info.id = f.id;
  g.info.memory_bytes = f.memory_bytes;
  g.info.multiprocessors = f.multiprocessors;
  g.info.scratch_bytes = f.scratch_bytes;
  g.info.compute_capability = f.compute_capability;
  return g;
}

// Blocks and plans are the same on every PE, and every process makes them by itself.
void check_alike(const std::vector<gpu>& gpus) {
  const gpu& first = gpus.front();
  for (const gpu& g : gpus)
    expect<unsupported_error>(g.info.name == first.info.name && g.info.multiprocessors == first.info.multiprocessors,
                              making_call, ": ", describe(g), " with ", g.info.multiprocessors,
                              " multiprocessors is unlike ", describe(first), " with ", first.info.multiprocessors,
                              "; processes drive GPUs of one kind: choose others (CUDA_VISIBLE_DEVICES), or drive "
                              "them from one process (machine::cuda)");
}

// Which GPU each PE is on, numbered by their first PEs, and what it has of one that several share.
void divide(std::vector<gpu>& gpus, const std::vector<gpu_facts>& facts, const std::vector<std::uint64_t>& free) {
  for (gpu& g : gpus) {
    const gpu_facts& own = facts[static_cast<std::size_t>(g.pe)];
    std::vector<int> pes;
    std::uint64_t least = free[static_cast<std::size_t>(g.pe)];
    for (std::size_t pe = 0; pe < facts.size(); ++pe)
      if (facts[pe].number == own.number) {
        pes.push_back(static_cast<int>(pe));
        least = std::min(least, free[pe]);
      }
    g.info.gpu = pes.front();
    g.info.pes_on_gpu = static_cast<int>(pes.size());
    // What CUDA has once for a GPU it has in each process.
    const auto first = std::find_if(gpus.begin(), gpus.end(), [&](const gpu& other) {
      return other.driven == g.driven && facts[static_cast<std::size_t>(other.pe)].number == own.number;
    });
    g.first_pe = first->pe;
    if (pes.size() == 1) continue;
    const std::string name = message("device ", g.info.id, " (", g.info.name, ")");
    g.info.memory_bytes = memory_share(least, pes, share_page, name);
    // CUDA_MPS_ACTIVE_THREAD_PERCENTAGE gives a process so many multiprocessors, but none for itself alone.
    g.info.multiprocessors = plain_share(own.multiprocessors, g.info.pes_on_gpu, name);
  }
}

void check_links(const std::vector<gpu>& gpus) {
  for (const gpu& own : driven_here(gpus))
    for (const gpu& other : gpus) {
      if (!other.reached || other.id < 0 || other.id == own.id) continue;
      check_pair(own, other);
      check_pair(other, own);
    }
}

}  // namespace

std::vector<gpu> open_gpus(const std::vector<int>& placement, const driver_api& driver, process_group& processes,
                           const network::host_layout& hosts) {
  const int first_pe = processes.rank() * static_cast<int>(placement.size());
  device_guard guard;
  std::vector<gpu> own;
  std::vector<gpu_facts> mine;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    own.push_back(open_gpu(first_pe + static_cast<int>(i), placement[i], driver));
    guard.use(own.back().id);
    check(cudaFree(nullptr), "cudaFree (making a context)", own.back().pe);
    own.back().service = new_stream(own.back());
    mine.push_back(facts_of(own.back()));
  }
  const std::vector<gpu_facts> facts = processes.collect_all(making_call, mine);
  std::vector<std::uint64_t> left;  // all contexts are there
  for (const gpu& g : own) {
    std::size_t free = 0;
    std::size_t total = 0;
    guard.use(g.id);
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", g.pe);
    left.push_back(free);
  }
  const std::vector<std::uint64_t> free = processes.collect_all(making_call, left);
  std::vector<gpu> gpus;
  for (int pe = 0; pe < static_cast<int>(facts.size()); ++pe) {
    const int here = pe - first_pe;
    if (here >= 0 && here < static_cast<int>(own.size()))
      gpus.push_back(std::move(own[static_cast<std::size_t>(here)]));
    else
      gpus.push_back(of_other_process(pe, facts[static_cast<std::size_t>(pe)]));
  }
  for (gpu& g : gpus) g.reached = !hosts.apart(g.pe, first_pe);
  check_alike(gpus);
  divide(gpus, facts, free);
  check_links(gpus);
  return gpus;
}

}  // namespace starling::on_cuda
