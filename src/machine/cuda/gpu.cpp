#include "gpu.hpp"

#include <algorithm>
#include <numeric>

#include "device_guard.hpp"
#include "starling/base/error.hpp"
#include "starling/device/target.hpp"

namespace starling::on_cuda {
namespace {

void check_ids(const std::vector<int>& ids, int count) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expect<argument_error>(ids[i] >= 0 && ids[i] < count, "machine::cuda: there is no device ", ids[i],
                           "; this host has ",
                           count == 1 ? std::string("device 0 only") : message("devices 0 to ", count - 1));
    expect<argument_error>(std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i), ids[i]) ==
                               ids.begin() + static_cast<std::ptrdiff_t>(i),
                           "machine::cuda: device ", ids[i], " is listed twice; every PE needs a device of its own");
  }
}

int attribute(cudaDeviceAttr which, const gpu& g) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, g.id), "cudaDeviceGetAttribute", g.pe);
  return value;
}

gpu open(int pe, int id, const driver_api& driver, device_guard& guard) {
  gpu g;
  g.pe = pe;
  g.id = id;
  check(cudaGetDeviceProperties(&g.properties, id), "cudaGetDeviceProperties", pe);
  const cudaDeviceProp& p = g.properties;
  g.info.name = p.name;
  g.info.id = id;
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
  guard.use(id);
  g.service = make_stream(pe);
  return g;
}

// Signals and atomics of one PE act on another PE's memory, which plain PCIe peer access does not do.
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

}  // namespace

std::string describe(const gpu& g) { return message("PE ", g.pe, " (", g.info.name, ", device ", g.id, ")"); }

std::vector<gpu> open_gpus(const std::vector<int>& ids, const driver_api& driver) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  check_ids(ids, count);
  std::vector<int> chosen = ids;
  if (chosen.empty()) {
    chosen.resize(static_cast<std::size_t>(count));
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  device_guard guard;
  std::vector<gpu> gpus;
  for (std::size_t i = 0; i < chosen.size(); ++i) gpus.push_back(open(static_cast<int>(i), chosen[i], driver, guard));
  for (const gpu& a : gpus)
    for (const gpu& b : gpus)
      if (a.pe != b.pe) check_pair(a, b);
  return gpus;
}

}  // namespace starling::on_cuda
