#include "local_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "device_guard.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

// Neighbours on one PE, put together.
std::vector<placed_bytes> joined(const std::vector<placed_bytes>& pieces, const device_mapper& mapper) {
  std::vector<placed_bytes> all;
  for (const placed_bytes& p : pieces) {
    if (!all.empty() && all.back().pe == p.pe)
      all.back().bytes += p.bytes;
    else
      all.push_back(p);
  }
  for (placed_bytes& p : all) p.bytes = mapper.rounded(p.bytes);
  return all;
}

void free_outside(std::byte* start, bool managed) { ignore(managed ? cudaFree(start) : cudaFreeHost(start)); }

// Taking all of the host's memory would end other processes.
[[noreturn]] void refuse(const char* what, std::size_t bytes) {
  throw memory_error(message("local memory: ", format_bytes(bytes), " (", bytes, " bytes) of ", what,
                             " are needed, and the host has ", format_bytes(available_host_bytes()),
                             " free; free some, or keep less on the host"));
}

}  // namespace

std::size_t available_host_bytes() {
  std::ifstream facts("/proc/meminfo");
  std::string name;
  std::size_t kilobytes = 0;
  std::string rest;
  while (facts >> name >> kilobytes && std::getline(facts, rest))
    if (name == "MemAvailable:") return kilobytes << 10;
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

local_store::local_store(const std::vector<gpu>& gpus, const device_mapper& mapper, std::size_t bytes)
    : gpus_(gpus),
      mapper_(mapper),
      bytes_(mapper.rounded(bytes)),
      base_(mapper.reserve(bytes_)),
      heap_(reinterpret_cast<std::byte*>(base_), bytes_, mapper.granularity()) {}

local_store::~local_store() {
  (void)mapper_.await_all_work();
  try {
    for (const local_heap::allocation& a : heap_.taken()) {
      const auto pieces = joined(a.pieces, mapper_);
      unmap(a.start, pieces, pieces.size());
    }
  } catch (const std::bad_alloc&) {  // the process ends with it
  }
  mapper_.give_back(base_, bytes_);
  for (const auto& [start, memory] : outside_) free_outside(const_cast<std::byte*>(start), memory.managed);
  for (const auto& [start, managed] : retired_outside_) free_outside(start, managed);
}

std::byte* local_store::allocate(const std::vector<placed_bytes>& pieces) {
  if (pieces.size() == 1 && pieces.front().pe == host_place) return allocate_host(pieces.front().bytes);
  if (pieces.size() == 1 && pieces.front().pe == managed_place) return allocate_managed(pieces.front().bytes);
  for (const placed_bytes& p : pieces) {
    const gpu& g = gpus_[static_cast<std::size_t>(p.pe)];
    if (p.bytes > g.info.memory_bytes)  // rounding might overflow
      mapper_.throw_out_of_memory(g, message("local memory: ", format_bytes(p.bytes), " are needed"));
  }
  std::byte* start = heap_.allocate(pieces);
  try {
    map(start, joined(pieces, mapper_));
  } catch (...) {
    (void)heap_.free(start);
    throw;
  }
  return start;
}

void local_store::map(std::byte* start, const std::vector<placed_bytes>& pieces) {
  std::size_t done = 0;
  std::size_t offset = 0;
  try {
    for (const placed_bytes& p : pieces) {
      const gpu& g = gpus_[static_cast<std::size_t>(p.pe)];
      mapper_.map(g, address(start) + offset, p.bytes,
                  message("local memory: ", format_bytes(p.bytes), " (", p.bytes, " bytes) are needed"));
      offset += p.bytes;
      ++done;
    }
  } catch (...) {
    unmap(start, pieces, done);
    throw;
  }
}

void local_store::unmap(std::byte* start, const std::vector<placed_bytes>& pieces, std::size_t mapped) const noexcept {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < mapped; ++i) {
    mapper_.unmap(gpus_[static_cast<std::size_t>(pieces[i].pe)], address(start) + offset, pieces[i].bytes);
    offset += pieces[i].bytes;
  }
}

std::byte* local_store::allocate_host(std::size_t bytes) {
  if (bytes > available_host_bytes()) refuse("pinned memory of the host", bytes);
  const device_guard guard(driven_here(gpus_).front().id);
  void* start = nullptr;
  const cudaError_t error = cudaHostAlloc(&start, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (error == cudaErrorMemoryAllocation) {
    ignore(error);
    refuse("pinned memory of the host", bytes);
  }
  check(error, "cudaHostAlloc (local memory)");
  return keep_outside(start, bytes, false);
}

std::byte* local_store::allocate_managed(std::size_t bytes) {
  for (const gpu& g : driven_here(gpus_))
    expect<unsupported_error>(g.properties.concurrentManagedAccess != 0, "managed memory: ", describe(g),
                              " cannot use it while the host does (no concurrent managed access); use memory of the "
                              "device or of the host, and let copies be made");
  // When a GPU is full its pages move to the host.
  if (bytes > available_host_bytes()) refuse("managed memory", bytes);
  const device_guard guard(driven_here(gpus_).front().id);
  void* start = nullptr;
  const cudaError_t error = cudaMallocManaged(&start, bytes, cudaMemAttachGlobal);
  if (error == cudaErrorMemoryAllocation) {
    ignore(error);
    refuse("managed memory", bytes);
  }
  check(error, "cudaMallocManaged (local memory)");
  return keep_outside(start, bytes, true);
}

std::byte* local_store::keep_outside(void* start, std::size_t bytes, bool managed) {
  const std::lock_guard lock(mutex_);
  outside_.emplace(static_cast<std::byte*>(start), outside{bytes, managed});
  return static_cast<std::byte*>(start);
}

void local_store::retire(std::byte* start) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    if (const auto found = outside_.find(start); found != outside_.end()) {
      retired_outside_.emplace_back(start, found->second.managed);
      outside_.erase(found);
    } else {
      heap_.retire(start);
      retired_.push_back(start);
    }
  } catch (const std::bad_alloc&) {  // it is given back with the machine
  }
}

void local_store::reclaim() noexcept {
  const std::lock_guard lock(mutex_);
  if (retired_.empty() && retired_outside_.empty()) return;
  if (!mapper_.await_all_work()) return;
  try {
    while (!retired_.empty()) {
      std::byte* start = retired_.back();
      retired_.pop_back();
      // Unmapped before the addresses can be taken again.
      const auto pieces = joined(heap_.pieces_of(start), mapper_);
      unmap(start, pieces, pieces.size());
      (void)heap_.free(start);
    }
  } catch (const std::bad_alloc&) {  // the rest is given back with the machine
  }
  for (const auto& [start, managed] : retired_outside_) free_outside(start, managed);
  retired_outside_.clear();
}

bool local_store::is_outside(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto* wanted = static_cast<const std::byte*>(address);
  auto after = outside_.upper_bound(wanted);
  if (after == outside_.begin()) return false;
  --after;
  return wanted < after->first + after->second.bytes;
}

std::size_t local_store::free_bytes(int place) const {
  if (place < 0) return available_host_bytes();
  const gpu& g = gpus_[static_cast<std::size_t>(place)];
  std::size_t free = 0;
  std::size_t total = 0;
  const device_guard guard(g.id);
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", g.pe);
  free = std::min(free, mapper_.left(g));
  return free / mapper_.granularity() * mapper_.granularity();
}

}  // namespace starling::on_cuda
