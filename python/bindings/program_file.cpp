#include "program_file.hpp"

#include <dlfcn.h>

#include "starling/base/error.hpp"
#include "starling/program/accesses.hpp"

namespace starling::python {

program_file::program_file(std::string path, bool for_gpus) : path_(std::move(path)) {
  if (for_gpus) {
    on_gpu_.emplace(path_);
    return;
  }
  library_.reset(dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* p) {
    if (p != nullptr) dlclose(p);
  });
  expect<argument_error>(library_ != nullptr, "program: ", path_, " cannot be loaded: ", library_ ? "" : dlerror());
  using setter = void (*)(const generated::access_functions*);
  if (auto set = reinterpret_cast<setter>(dlsym(library_.get(), "starling_program_accesses"))) {
    const generated::access_functions own = generated::check_accesses();
    set(&own);
    accesses_seen_ = true;
  }
}

kernel program_file::find(const std::string& name) const {
  kernel k;
  if (!on_gpu_) {
    k.on_host = reinterpret_cast<decltype(k.on_host)>(function(name + "_run"));
    k.accesses_seen = accesses_seen_;
    return k;
  }
  k.on_gpu = on_gpu_->find((name + "_gpu").c_str());
  k.on_gpu_traced = on_gpu_->find((name + "_gpu_traced").c_str());
  expect<argument_error>(k.on_gpu != nullptr && k.on_gpu_traced != nullptr, "program: ", path_, " holds no ", name);
  return k;
}

void* program_file::function(const std::string& name) const {
  void* found = library_ ? dlsym(library_.get(), name.c_str()) : nullptr;
  expect<argument_error>(found != nullptr, "program: ", path_, " holds no ", name);
  return found;
}

}  // namespace starling::python
