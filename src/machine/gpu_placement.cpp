#include "gpu_placement.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "starling/base/error.hpp"
#include "starling/base/index.hpp"
#include "starling/machine/device_info.hpp"

namespace starling {
namespace {

// The first ordinal that is there twice; -1: none.
int repeated(const std::vector<int>& ids) {
  std::set<int> seen;
  for (const int id : ids)
    if (!seen.insert(id).second) return id;
  return -1;
}

// What this host has, and how to get more PEs out of it where that is what is wanted.
std::string devices_there(int gpus, int each, int wanted) {
  std::string text = gpus == 1 ? std::string("device 0 only") : message("devices 0 to ", gpus - 1);
  if (each > 1) text += message(", of which STARLING_PES_PER_GPU counts each ", each, " times");
  constexpr int plausible = 1024;
  if (wanted >= plausible || gpus < 1) return text;
  const int needed = (wanted + gpus - 1) / gpus;
  return text + message("; for ", wanted, " PEs let ", needed, " share each GPU: pes_per_gpu = ", needed,
                        ", STARLING_PES_PER_GPU=", needed, " or --pes-per-gpu ", needed);
}

}  // namespace

void check_cuda_options(const std::vector<int>& ids, const cuda_options& options) {
  for (const int id : ids)
    expect<argument_error>(id >= 0, "machine::cuda: there is no device ", id, "; ordinals begin with 0");
  if (!options.pes_per_gpu) return;
  expect<argument_error>(*options.pes_per_gpu >= 1, "machine::cuda: pes_per_gpu = ", *options.pes_per_gpu,
                         "; must be at least 1");
  const int twice = repeated(ids);
  expect<argument_error>(twice < 0, "machine::cuda: ids names device ", twice,
                         " more than once, and pes_per_gpu = ", *options.pes_per_gpu,
                         " too says how many PEs it has; give one of the two");
}

bool may_share(const std::vector<int>& ids, const cuda_options& options, const environment& e) {
  if (options.pes_per_gpu) return *options.pes_per_gpu > 1;
  return repeated(ids) >= 0 || e.pes_per_gpu > 1;
}

std::vector<int> place_pes(const std::vector<int>& ids, const cuda_options& options, const environment& e, int gpus) {
  check_cuda_options(ids, options);
  const bool said = options.pes_per_gpu.has_value() || repeated(ids) >= 0;
  const int each = options.pes_per_gpu ? *options.pes_per_gpu : said ? 1 : e.pes_per_gpu;
  const int counted = said ? 1 : each;  // how many ordinals a GPU has
  std::vector<int> all = ids;
  if (ids.empty()) {
    all.resize(static_cast<std::size_t>(gpus * counted));
    std::iota(all.begin(), all.end(), 0);
  }
  std::vector<int> placement;
  for (const int id : all) {
    expect<argument_error>(id < gpus * counted, "machine::cuda: there is no device ", id, "; this host has ",
                           devices_there(gpus, counted, std::max(id + 1, static_cast<int>(all.size()))));
    const int times = said ? each : 1;
    placement.insert(placement.end(), static_cast<std::size_t>(times), id / counted);
  }
  expect<argument_error>(placement.size() <= most_gpu_pes, "machine::cuda: ", placement.size(), " PEs; at most ",
                         most_gpu_pes, ", as many as a block gathers values of; let fewer share a GPU");
  return placement;
}

gpu_sharing sharing_of(const cuda_options& options, const environment& e) {
  if (options.sharing != gpu_sharing::automatic) return options.sharing;
  return e.gpu_sharing == "partitions" ? gpu_sharing::partitions
         : e.gpu_sharing == "plain"    ? gpu_sharing::plain
                                       : gpu_sharing::automatic;
}

int most_on_one(const std::vector<int>& placement) {
  std::map<int, int> count;
  int most = 0;
  for (const int gpu : placement) most = std::max(most, ++count[gpu]);
  return most;
}

std::vector<int> pes_on(const std::vector<int>& placement, int gpu) {
  std::vector<int> pes;
  for (std::size_t pe = 0; pe < placement.size(); ++pe)
    if (placement[pe] == gpu) pes.push_back(static_cast<int>(pe));
  return pes;
}

std::string list_of_pes(const std::vector<int>& pes) {
  std::string text = pes.size() == 1 ? "PE " : "PEs ";
  for (std::size_t i = 0; i < pes.size(); ++i)
    text += (i == 0 ? "" : i + 1 == pes.size() ? " and " : ", ") + std::to_string(pes[i]);
  return text;
}

std::string summary(machine_kind kind, const std::vector<device_info>& devices) {
  const std::size_t n = devices.size();
  if (kind == machine_kind::host) return message(n, n == 1 ? " virtual device" : " virtual devices");
  std::set<int> gpus;
  for (const device_info& d : devices) gpus.insert(d.gpu);
  const std::string count = message(gpus.size(), gpus.size() == 1 ? " GPU" : " GPUs");
  return gpus.size() == n ? count : message(n, " PEs on ", count);
}

}  // namespace starling
