#include "gpu_context.hpp"

#include <dlfcn.h>

namespace starling::nvshmem {
namespace {

// The calls of the driver, as it exports them; 0 is success.
struct driver {
  int (*init)(unsigned flags) = nullptr;
  int (*count)(int* devices) = nullptr;
  int (*device)(int* device, int number) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*get_current)(void** context) = nullptr;
  int (*set_current)(void* context) = nullptr;

  bool whole() const { return init && count && device && retain && get_current && set_current; }
};

driver load_driver() {
  driver all;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // for the rest of the process
  if (library == nullptr) return all;
  const auto find = [&]<class Call>(Call& call, const char* name) {
    call = reinterpret_cast<Call>(dlsym(library, name));
  };
  find(all.init, "cuInit");
  find(all.count, "cuDeviceGetCount");
  find(all.device, "cuDeviceGet");
  find(all.retain, "cuDevicePrimaryCtxRetain");
  find(all.get_current, "cuCtxGetCurrent");
  find(all.set_current, "cuCtxSetCurrent");
  return all;
}

}  // namespace

gpu_context gpu_context::of_process(int rank) {
  gpu_context made;
  const driver by = load_driver();
  if (!by.whole() || by.init(0) != 0) return made;
  void* context = nullptr;
  if (by.get_current(&context) != 0 || context == nullptr) {
    int devices = 0;
    int device = 0;
    if (by.count(&devices) != 0 || devices == 0) return made;
    if (by.device(&device, rank % devices) != 0 || by.retain(&context, device) != 0) return made;
  }
  made.set_current_ = by.set_current;
  made.context_ = context;
  made.make_current();
  return made;
}

void gpu_context::make_current() const {
  if (context_ != nullptr) (void)set_current_(context_);
}

}  // namespace starling::nvshmem
