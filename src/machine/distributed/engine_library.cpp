#include "engine_library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "starling/base/error.hpp"

namespace starling {
namespace {

std::filesystem::path own_folder() {
  Dl_info about = {};
  if (dladdr(reinterpret_cast<const void*>(&load_engine), &about) == 0 || about.dli_fname == nullptr) return {};
  std::error_code none;
  const std::filesystem::path file = std::filesystem::canonical(about.dli_fname, none);
  return file.parent_path();
}

}  // namespace

std::unique_ptr<engine> load_engine(const std::string& name) {
  const std::string file = "starling_" + name + "_engine.so";
  const std::filesystem::path folder = own_folder();
  std::string problems;
  void* library = nullptr;
  for (const auto& at : {folder / file, folder / ".." / "lib" / file, std::filesystem::path(file)}) {
    // For the rest of the process: what it is linked to cannot be unloaded. Global, because MPI loads parts of itself.
    library = dlopen(at.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library != nullptr) break;
    const char* why = dlerror();
    problems += message(problems.empty() ? "" : "; ", why == nullptr ? "?" : why);
  }
  expect<unsupported_error>(library != nullptr, "machine::distributed: the engine ", name, " is not here (", problems,
                            "); build Starling where ", name,
                            " is installed (on Debian: libopenmpi-dev), and keep the library beside the program, or "
                            "start all processes on one host");
  const auto make = reinterpret_cast<engine_maker>(dlsym(library, engine_maker_name));
  expect<unsupported_error>(make != nullptr, "machine::distributed: ", file, " is no engine of Starling");
  const made_engine e = make();
  expect<unsupported_error>(e.interface == engine_interface, "machine::distributed: ", file,
                            " is of another build of Starling (interface ", e.interface, ", wanted ", engine_interface,
                            "); build both from one tree");
  expect<unsupported_error>(e.made != nullptr, "machine::distributed: ", e.problem);
  return std::unique_ptr<engine>(e.made);
}

}  // namespace starling
