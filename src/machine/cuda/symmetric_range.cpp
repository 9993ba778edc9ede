#include "symmetric_range.hpp"

#include <algorithm>

#include "device_guard.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

CUmemAllocationProp memory_of(const gpu& g) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = g.id;
  return prop;
}

}  // namespace

symmetric_range::symmetric_range(const std::vector<gpu>& gpus, const driver_api& driver, std::size_t bytes)
    : gpus_(gpus), driver_(driver) {
  for (const gpu& g : gpus_) {
    const CUmemAllocationProp prop = memory_of(g);
    std::size_t own = 0;
    driver_.check(driver_.granularity(&own, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "cuMemGetAllocationGranularity",
                  g.pe);
    granularity_ = std::max(granularity_, own);  // powers of two, so the largest serves all
    CUmemAccessDesc desc{};
    desc.location = prop.location;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access_.push_back(desc);
  }
  stride_ = rounded(bytes);
  driver_.check(driver_.address_reserve(&base_, gpus_.size() * stride_, granularity_, 0, 0), "cuMemAddressReserve",
                no_pe);
}

symmetric_range::~symmetric_range() {
  // A kernel or copy that still used the memory would fault: let all work of the GPUs end first.
  try {
    device_guard guard;
    for (const gpu& g : gpus_) {
      ignore(guard.select(g.id));
      ignore(cudaDeviceSynchronize());
    }
  } catch (const error&) {  // the driver is gone, and the memory with it
  }
  for (auto p = mapped_.rbegin(); p != mapped_.rend(); ++p) (void)driver_.unmap(p->address, p->bytes);
  (void)driver_.address_free(base_, gpus_.size() * stride_);
}

void symmetric_range::map(std::size_t begin, std::size_t end) {
  const std::lock_guard lock(mutex_);
  const std::size_t before = mapped_.size();
  try {
    for (const gpu& g : gpus_) map_on(g, base_ + static_cast<std::size_t>(g.pe) * stride_ + begin, end - begin);
  } catch (...) {
    while (mapped_.size() > before) {
      (void)driver_.unmap(mapped_.back().address, mapped_.back().bytes);
      mapped_.pop_back();
    }
    throw;
  }
}

void symmetric_range::map_on(const gpu& g, CUdeviceptr address, std::size_t bytes) {
  const CUmemAllocationProp prop = memory_of(g);
  mapped_.reserve(mapped_.size() + 1);  // here, so that nothing can fail between mapping and noting it
  CUmemGenericAllocationHandle handle = 0;
  const CUresult created = driver_.create(&handle, bytes, &prop, 0);
  if (created == CUDA_ERROR_OUT_OF_MEMORY) throw_out_of_memory(g, bytes);
  driver_.check(created, "cuMemCreate", g.pe);
  const CUresult mapped = driver_.map(address, bytes, 0, handle, 0);
  // The mapping keeps the memory alive; without one it is given back here.
  (void)driver_.release(handle);
  driver_.check(mapped, "cuMemMap", g.pe);
  mapped_.push_back({address, bytes});
  driver_.check(driver_.set_access(address, bytes, access_.data(), access_.size()), "cuMemSetAccess", g.pe);
}

void symmetric_range::throw_out_of_memory(const gpu& g, std::size_t bytes) const {
  std::size_t free = 0;
  std::size_t total = 0;
  device_guard guard(g.id);
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", g.pe);
  throw memory_error(
      message("symmetric memory: ", format_bytes(bytes), " more are needed on every PE, but ", describe(g), " has ",
              format_bytes(free), " of ", format_bytes(total),
              " free; free other arrays, end other processes on this GPU (nvidia-smi shows them), or use "
              "more devices"));
}

void growing_area::grow_to(std::size_t size) {
  if (size <= size_) return;
  expect<memory_error>(size <= limit_, "symmetric memory: ", format_bytes(size), " needed, the range has ",
                       format_bytes(limit_));
  const std::size_t needed = range_.rounded(size);
  const std::size_t generous = std::min(std::max(needed, size_ + range_.rounded(step_)), limit_);
  try {
    range_.map(begin_ + size_, begin_ + generous);
    size_ = generous;
  } catch (const memory_error&) {
    if (generous == needed) throw;
    range_.map(begin_ + size_, begin_ + needed);
    size_ = needed;
  }
}

}  // namespace starling::on_cuda
