#include "driver.hpp"

#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

// The newest of these functions came with CUDA 11.7; asking for 12.0's variants gives the same ones, and every driver
// that this runtime works with has them.
constexpr unsigned variants_of = 12000;

template <class Function>
void find(Function& f, const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  on_cuda::check(cudaGetDriverEntryPointByVersion(name, &found, variants_of, cudaEnableDefault, &status),
                 "cudaGetDriverEntryPointByVersion");
  expect<unsupported_error>(found != nullptr && status == cudaDriverEntryPointSuccess, "the CUDA driver has no ", name,
                            "; update the NVIDIA driver");
  f = reinterpret_cast<Function>(found);
}

// Partitions came with CUDA 12.4, streams of them with 12.5.
constexpr unsigned partitions_of = 12050;

// An older driver lacks it, or does not know the version: then there are no partitions.
template <class Function>
bool find_newer(Function& f, const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, partitions_of, cudaEnableDefault, &status);
  ignore(error);
  if (error != cudaSuccess || status != cudaDriverEntryPointSuccess) return false;
  f = reinterpret_cast<Function>(found);
  return f != nullptr;
}

bool find_partitions(driver_api& d) {
  return find_newer(d.device_resource, "cuDeviceGetDevResource") &&
         find_newer(d.split_resource, "cuDevSmResourceSplitByCount") &&
         find_newer(d.describe_resource, "cuDevResourceGenerateDesc") &&
         find_newer(d.green_create, "cuGreenCtxCreate") && find_newer(d.green_destroy, "cuGreenCtxDestroy") &&
         find_newer(d.green_stream, "cuGreenCtxStreamCreate");
}

}  // namespace

driver_api driver_api::load() {
  driver_api d;
  find(d.device_attribute, "cuDeviceGetAttribute");
  find(d.granularity, "cuMemGetAllocationGranularity");
  find(d.address_reserve, "cuMemAddressReserve");
  find(d.address_free, "cuMemAddressFree");
  find(d.create, "cuMemCreate");
  find(d.release, "cuMemRelease");
  find(d.map, "cuMemMap");
  find(d.unmap, "cuMemUnmap");
  find(d.set_access, "cuMemSetAccess");
  find(d.export_handle, "cuMemExportToShareableHandle");
  find(d.import_handle, "cuMemImportFromShareableHandle");
  find(d.context_state, "cuDevicePrimaryCtxGetState");
  find(d.loading_mode, "cuModuleGetLoadingMode");
  find(d.stream_wait, "cuStreamWaitValue64");
  find(d.stream_write, "cuStreamWriteValue64");
  find(d.error_name, "cuGetErrorName");
  find(d.error_string, "cuGetErrorString");
  if (!find_partitions(d)) d.green_stream = nullptr;
  return d;
}

void driver_api::check(CUresult result, const char* call, int pe) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = "unknown error";
  const char* text = "";
  (void)error_name(result, &name);
  (void)error_string(result, &text);
  throw device_error(message(call, pe == no_pe ? std::string() : message(" on PE ", pe), ": ", name, " (", text,
                             "); see the CUDA driver's documentation of this error"));
}

}  // namespace starling::on_cuda
