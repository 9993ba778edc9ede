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
  for (const auto& [start, bytes] : host_) ignore(cudaFreeHost(const_cast<std::byte*>(start)));
  for (std::byte* start : retired_host_) ignore(cudaFreeHost(start));
}

std::byte* local_store::allocate(const std::vector<placed_bytes>& pieces) {
  if (pieces.size() == 1 && pieces.front().pe == host_place) return allocate_host(pieces.front().bytes);
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
  const auto refuse = [bytes] {
    throw memory_error(message("local memory: ", format_bytes(bytes), " (", bytes,
                               " bytes) of pinned memory of the host are needed, which has ",
                               format_bytes(available_host_bytes()), " free; free some, or keep less on the host"));
  };
  if (bytes > available_host_bytes()) refuse();  // taking it all would end other processes
  const device_guard guard(driven_here(gpus_).front().id);
  void* start = nullptr;
  const cudaError_t error = cudaHostAlloc(&start, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (error == cudaErrorMemoryAllocation) {
    ignore(error);
    refuse();
  }
  check(error, "cudaHostAlloc (local memory)");
  const std::lock_guard lock(mutex_);
  host_.emplace(static_cast<std::byte*>(start), bytes);
  return static_cast<std::byte*>(start);
}

void local_store::retire(std::byte* start) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    if (host_.erase(start) > 0) {
      retired_host_.push_back(start);
    } else {
      heap_.retire(start);
      retired_.push_back(start);
    }
  } catch (const std::bad_alloc&) {  // it is given back with the machine
  }
}

void local_store::reclaim() noexcept {
  const std::lock_guard lock(mutex_);
  if (retired_.empty() && retired_host_.empty()) return;
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
  for (std::byte* start : retired_host_) ignore(cudaFreeHost(start));
  retired_host_.clear();
}

bool local_store::is_host(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto* wanted = static_cast<const std::byte*>(address);
  auto after = host_.upper_bound(wanted);
  if (after == host_.begin()) return false;
  --after;
  return wanted < after->first + after->second;
}

std::size_t local_store::free_bytes(int place) const {
  if (place == host_place) return available_host_bytes();
  const gpu& g = gpus_[static_cast<std::size_t>(place)];
  std::size_t free = 0;
  std::size_t total = 0;
  const device_guard guard(g.id);
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", g.pe);
  free = std::min(free, mapper_.left(g));
  return free / mapper_.granularity() * mapper_.granularity();
}

}  // namespace starling::on_cuda
