#include "device_mapper.hpp"

#include <algorithm>

#include "device_guard.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

CUmemAllocationProp memory_of(const gpu& g, bool exported) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = g.id;
  if (exported) prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return prop;
}

std::vector<std::size_t> limits_of(const std::vector<gpu>& gpus) {
  std::vector<std::size_t> limits;
  for (const gpu& g : gpus) limits.push_back(g.shared() ? g.info.memory_bytes : memory_shares::no_limit);
  return limits;
}

}  // namespace

device_mapper::device_mapper(const std::vector<gpu>& gpus, const driver_api& driver, bool exported)
    : gpus_(gpus), driver_(driver), exported_(exported), shares_(limits_of(gpus)) {
  for (const gpu& g : driven_here(gpus_)) {
    if (g.pe != g.first_pe) continue;
    const CUmemAllocationProp prop = memory_of(g, exported_);
    std::size_t own = 0;
    driver_.check(driver_.granularity(&own, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "cuMemGetAllocationGranularity",
                  g.pe);
    granularity_ = std::max(granularity_, own);  // powers of two, so the largest serves all
    CUmemAccessDesc desc{};
    desc.location = prop.location;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access_.push_back(desc);
  }
}

CUdeviceptr device_mapper::reserve(std::size_t bytes) const {
  CUdeviceptr start = 0;
  driver_.check(driver_.address_reserve(&start, bytes, granularity_, 0, 0), "cuMemAddressReserve", no_pe);
  return start;
}

void device_mapper::map(const gpu& g, CUdeviceptr address, std::size_t bytes, const std::string& what) const {
  const CUmemGenericAllocationHandle handle = create(g, bytes, what);
  try {
    put_behind(g, address, bytes, handle);
  } catch (...) {
    let_go(handle);
    give_back_share(g, bytes);
    throw;
  }
  let_go(handle);  // the mapping keeps the memory alive
}

CUmemGenericAllocationHandle device_mapper::create(const gpu& g, std::size_t bytes, const std::string& what) const {
  if (!shares_.take(g.pe, bytes)) throw_out_of_memory(g, what);
  const CUmemAllocationProp prop = memory_of(g, exported_);
  CUmemGenericAllocationHandle handle = 0;
  const CUresult created = driver_.create(&handle, bytes, &prop, 0);
  if (created == CUDA_SUCCESS) return handle;
  give_back_share(g, bytes);
  if (created == CUDA_ERROR_OUT_OF_MEMORY) throw_out_of_memory(g, what);
  driver_.check(created, "cuMemCreate", g.pe);
  return handle;
}

void device_mapper::put_behind(const gpu& g, CUdeviceptr address, std::size_t bytes,
                               CUmemGenericAllocationHandle handle) const {
  driver_.check(driver_.map(address, bytes, 0, handle, 0), "cuMemMap", g.pe);
  const CUresult opened = driver_.set_access(address, bytes, access_.data(), access_.size());
  if (opened == CUDA_SUCCESS) return;
  (void)driver_.unmap(address, bytes);
  driver_.check(opened, "cuMemSetAccess", g.pe);
}

file device_mapper::export_file(const gpu& g, CUmemGenericAllocationHandle handle) const {
  int number = -1;
  driver_.check(driver_.export_handle(&number, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                "cuMemExportToShareableHandle", g.pe);
  return file(number);
}

CUmemGenericAllocationHandle device_mapper::import_file(const gpu& g, const file& from) const {
  CUmemGenericAllocationHandle handle = 0;
  void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(from.number()));
  driver_.check(driver_.import_handle(&handle, number, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                "cuMemImportFromShareableHandle", g.pe);
  return handle;
}

bool device_mapper::await_all_work() const noexcept {
  try {
    device_guard guard;
    bool ended = true;
    for (const gpu& g : driven_here(gpus_)) {
      cudaError_t state = guard.select(g.id);
      if (state == cudaSuccess) state = cudaDeviceSynchronize();
      ignore(state);
      ended = ended && state == cudaSuccess;
    }
    return ended;
  } catch (const error&) {  // the driver is gone, and the memory with it
    return false;
  }
}

void device_mapper::throw_out_of_memory(const gpu& g, const std::string& what) const {
  std::size_t free = 0;
  std::size_t total = 0;
  device_guard guard(g.id);
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", g.pe);
  if (g.shared())
    throw memory_error(message(
        what, ", but ",
        share_is_full(describe(g), std::min(free, shares_.left(g.pe)), shares_.limit(g.pe), sharing(gpus_, g))));
  throw memory_error(
      message(what, ", but ", describe(g), " has ", format_bytes(free), " of ", format_bytes(total),
              " free; free other memory, end other processes on this GPU (nvidia-smi shows them), or use "
              "more devices"));
}

}  // namespace starling::on_cuda
