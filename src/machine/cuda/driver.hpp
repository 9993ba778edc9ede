// The functions of the CUDA driver that the runtime has no counterpart for: virtual memory management, streams that
// wait for words of memory and write them, and partitions of multiprocessors (green contexts), which older drivers
// lack. They are looked up at run time, so that nothing links against libcuda and a program starts on machines without
// it.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include "check.hpp"

namespace starling::on_cuda {

struct driver_api {
  PFN_cuDeviceGetAttribute_v2000 device_attribute = nullptr;
  PFN_cuMemGetAllocationGranularity_v10020 granularity = nullptr;
  PFN_cuMemAddressReserve_v10020 address_reserve = nullptr;
  PFN_cuMemAddressFree_v10020 address_free = nullptr;
  PFN_cuMemCreate_v10020 create = nullptr;
  PFN_cuMemRelease_v10020 release = nullptr;
  PFN_cuMemMap_v10020 map = nullptr;
  PFN_cuMemUnmap_v10020 unmap = nullptr;
  PFN_cuMemSetAccess_v10020 set_access = nullptr;
  PFN_cuMemExportToShareableHandle_v10020 export_handle = nullptr;
  PFN_cuMemImportFromShareableHandle_v10020 import_handle = nullptr;
  PFN_cuDevicePrimaryCtxGetState_v7000 context_state = nullptr;
  PFN_cuModuleGetLoadingMode_v11070 loading_mode = nullptr;
  PFN_cuStreamWaitValue64_v11070 stream_wait = nullptr;
  PFN_cuStreamWriteValue64_v11070 stream_write = nullptr;
  PFN_cuGetErrorName_v6000 error_name = nullptr;
  PFN_cuGetErrorString_v6000 error_string = nullptr;

  // All of these or none.
  PFN_cuDeviceGetDevResource_v12040 device_resource = nullptr;
  PFN_cuDevSmResourceSplitByCount_v12040 split_resource = nullptr;
  PFN_cuDevResourceGenerateDesc_v12040 describe_resource = nullptr;
  PFN_cuGreenCtxCreate_v12040 green_create = nullptr;
  PFN_cuGreenCtxDestroy_v12040 green_destroy = nullptr;
  PFN_cuGreenCtxStreamCreate_v12050 green_stream = nullptr;
  bool has_partitions() const { return green_stream != nullptr; }

  // Throws unsupported_error when the driver lacks one of the others. A driver must be there: see probe.cpp.
  static driver_api load();

  // Throws device_error that names the call.
  void check(CUresult result, const char* call, int pe) const;
};

// An address as the driver's functions take it.
inline CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

}  // namespace starling::on_cuda
