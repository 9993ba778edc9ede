// The functions of the CUDA driver that the runtime has no counterpart for: virtual memory management. They are looked
// up at run time, so that nothing links against libcuda and a program starts on machines without it.
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
  PFN_cuGetErrorName_v6000 error_name = nullptr;
  PFN_cuGetErrorString_v6000 error_string = nullptr;

  // Throws unsupported_error when the driver lacks one of them. A driver must be there: see probe.cpp.
  static driver_api load();

  // Throws device_error that names the call.
  void check(CUresult result, const char* call, int pe) const;
};

}  // namespace starling::on_cuda
