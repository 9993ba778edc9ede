#include "host_library.hpp"

#include <dlfcn.h>

#include "starling/base/error.hpp"

namespace starling::nvshmem {
namespace {

constexpr const char* setting = "STARLING_NVSHMEM_LIBRARY";
constexpr int wanted_version = 3;

template <class Call>
void find(void* library, const std::string& file, const char* name, Call& call) {
  call = reinterpret_cast<Call>(dlsym(library, name));
  expect<unsupported_error>(call != nullptr, "machine::distributed: ", file, " has no ", name,
                            ", so it is no host library of NVSHMEM 3; set ", setting, " to one");
}

}  // namespace

host_library load_host_library(const std::string& file) {
  // For the rest of the process: what it has begun cannot be unloaded.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* why = library == nullptr ? dlerror() : nullptr;
  expect<unsupported_error>(library != nullptr, "machine::distributed: NVSHMEM's host library is not here (",
                            why == nullptr ? "?" : why, "); install it (pip install nvidia-nvshmem-cu13), and set ",
                            setting, " to its libnvshmem_host.so.3");
  host_library all;
  find(library, file, "nvshmemx_vendor_get_version_info", all.version);
  find(library, file, "nvshmemx_get_uniqueid", all.get_unique_id);
  find(library, file, "nvshmemx_set_attr_uniqueid_args", all.set_unique_id);
  find(library, file, "nvshmemx_hostlib_init_attr", all.init);
  find(library, file, "nvshmemx_init_status", all.init_status);
  find(library, file, "nvshmem_my_pe", all.my_pe);
  find(library, file, "nvshmem_n_pes", all.n_pes);
  find(library, file, "nvshmem_malloc", all.malloc);
  find(library, file, "nvshmem_putmem", all.putmem);
  find(library, file, "nvshmem_quiet", all.quiet);
  int major = 0;
  int minor = 0;
  int patch = 0;
  all.version(&major, &minor, &patch);
  expect<unsupported_error>(major == wanted_version, "machine::distributed: ", file, " is NVSHMEM ", major, ".", minor,
                            ".", patch, ", and the engine is for version ", wanted_version, "; set ", setting,
                            " to one of that");
  return all;
}

}  // namespace starling::nvshmem
