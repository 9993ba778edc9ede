#include "gpu.hpp"

#include <algorithm>
#include <map>

#include "../gpu_shares.hpp"
#include "device_guard.hpp"
#include "starling/base/error.hpp"
#include "starling/device/target.hpp"

namespace starling::on_cuda {
namespace {

int attribute(cudaDeviceAttr which, const gpu& g) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, g.id), "cudaDeviceGetAttribute", g.pe);
  return value;
}

}  // namespace

gpu open_gpu(int pe, int id, const driver_api& driver) {
  gpu g;
  g.pe = pe;
  g.id = id;
  check(cudaGetDeviceProperties(&g.properties, id), "cudaGetDeviceProperties", pe);
  const cudaDeviceProp& p = g.properties;
  g.info.name = p.name;
  g.info.id = id;
  g.info.gpu = id;
  g.info.memory_bytes = p.totalGlobalMem;
  g.info.multiprocessors = p.multiProcessorCount;
  // Block-wide reductions and the recorder have shared memory of their own, which counts against the same limit.
  g.info.scratch_bytes = p.sharedMemPerBlockOptin - target::own_shared_bytes;
  g.info.compute_capability = 10 * p.major + p.minor;

  int vmm = 0;
  driver.check(driver.device_attribute(&vmm, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, id),
               "cuDeviceGetAttribute", pe);
  const char* lack = p.major < 7                                       ? "compute capability 7.0 or higher"
                     : vmm == 0                                        ? "virtual memory management"
                     : attribute(cudaDevAttrCooperativeLaunch, g) == 0 ? "cooperative launches"
                     : attribute(cudaDevAttrUnifiedAddressing, g) == 0 ? "unified addressing"
                                                                       : nullptr;
  if (lack != nullptr)
    throw unsupported_error(message("machine::cuda: ", describe(g), " lacks ", lack,
                                    ", which a machine needs; choose other devices or machine::host(n)"));
  return g;
}

namespace {

// Before anything is made: there may be very many.
void check_numbers(const std::vector<int>& placement) {
  std::map<int, int> pes;
  for (const int id : placement) ++pes[id];
  for (const auto& [id, n] : pes) {
    int multiprocessors = 0;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, id), "cudaDeviceGetAttribute");
    (void)plain_share(multiprocessors, n, message("device ", id));
  }
}

// Multiprocessors and memory of the PEs of one GPU that share it.
void divide(std::vector<gpu>& gpus, const std::vector<int>& pes, gpu_sharing how, const driver_api& driver) {
  const gpu& first = gpus[static_cast<std::size_t>(pes.front())];
  const std::string name = message("device ", first.id, " (", first.info.name, ")");
  const auto n = static_cast<int>(pes.size());
  const int plain = plain_share(first.properties.multiProcessorCount, n, name);
  const device_guard guard(first.id);
  check(cudaFree(nullptr), "cudaFree (making a context)", first.pe);
  std::vector<partition> parts;
  if (how == gpu_sharing::partitions) parts = split(driver, first.id, n, name);
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", first.pe);
  const std::size_t memory = memory_share(free, pes, share_page, name);
  for (std::size_t i = 0; i < pes.size(); ++i) {
    gpu& g = gpus[static_cast<std::size_t>(pes[i])];
    g.first_pe = pes.front();
    g.info.pes_on_gpu = n;
    g.info.memory_bytes = memory;
    g.info.multiprocessors = plain;
    if (parts.empty()) continue;
    g.own = std::move(parts[i]);
    g.info.multiprocessors = g.own.multiprocessors();
    g.info.partitioned = true;
  }
}

}  // namespace

void check_pair(const gpu& a, const gpu& b) {
  int reach = 0;
  check(cudaDeviceCanAccessPeer(&reach, a.id, b.id), "cudaDeviceCanAccessPeer", a.pe);
  expect<unsupported_error>(
      reach != 0, "machine::cuda: ", describe(a), " cannot reach the memory of ", describe(b),
      "; choose devices that are linked (nvidia-smi topo -p2p n shows which), or machine::host(n)");
  int atomics = 0;
  check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, a.id, b.id),
        "cudaDeviceGetP2PAttribute", a.pe);
  expect<unsupported_error>(
      atomics != 0, "machine::cuda: ", describe(a), " cannot do atomic operations on the memory of ", describe(b),
      "; choose devices that NVLink joins (nvidia-smi topo -p2p a shows which), or ", "machine::host(n)");
}

std::string describe(const gpu& g) { return message("PE ", g.pe, " (", g.info.name, ", device ", g.info.id, ")"); }

std::vector<int> sharing(const std::vector<gpu>& gpus, const gpu& g) {
  std::vector<int> pes;
  for (const gpu& other : gpus)
    if (other.info.gpu == g.info.gpu) pes.push_back(other.pe);
  return pes;
}

unique_stream new_stream(const gpu& g, int priority) {
  // CUDA's go down from 0, which is the lowest.
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange", g.pe);
  const int level = std::max(-priority, highest);
  if (g.own) return unique_stream(g.own.new_stream(g.pe, level));
  cudaStream_t s = nullptr;
  // Streams do not wait for the legacy default stream, nor it for them.
  check(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, level), "cudaStreamCreateWithPriority", g.pe);
  return unique_stream(s);
}

bool has_context(const std::vector<int>& placement) {
  const driver_api driver = driver_api::load();
  bool any = false;
  for (const int id : placement) {
    unsigned flags = 0;
    int active = 0;
    driver.check(driver.context_state(id, &flags, &active), "cuDevicePrimaryCtxGetState", no_pe);
    any = any || active != 0;
  }
  return any;
}

bool loads_late(const driver_api& driver) {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  driver.check(driver.loading_mode(&mode), "cuModuleGetLoadingMode", no_pe);
  return mode == CU_MODULE_LAZY_LOADING;
}

std::string left_over(const std::vector<gpu>& gpus) {
  for (const gpu& g : gpus) {
    const int all = g.properties.multiProcessorCount;
    const int left = all - g.info.multiprocessors * g.info.pes_on_gpu;
    if (!g.shared() || left <= 0) continue;
    const std::string how = g.own ? "; plain sharing leaves fewer (STARLING_GPU_SHARING=plain)" : "";
    return message(g.info.multiprocessors, " of ", all, " multiprocessors each, ", left, " left over", how);
  }
  return {};
}

std::vector<gpu> open_gpus(const std::vector<int>& placement, gpu_sharing how, const driver_api& driver) {
  check_numbers(placement);
  device_guard guard;
  std::vector<gpu> gpus;
  for (std::size_t i = 0; i < placement.size(); ++i)
    gpus.push_back(open_gpu(static_cast<int>(i), placement[i], driver));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].first_pe = gpus[i].pe;
    const std::vector<int> pes = sharing(gpus, gpus[i]);
    if (pes.size() > 1 && pes.front() == gpus[i].pe) divide(gpus, pes, how, driver);
  }
  for (gpu& g : gpus) {
    guard.use(g.id);
    g.service = new_stream(g);
  }
  for (const gpu& a : gpus)
    for (const gpu& b : gpus)
      if (a.id != b.id) check_pair(a, b);
  return gpus;
}

}  // namespace starling::on_cuda
