// Generated programs: loads what one was compiled to, a shared object or GPU code, and runs its kernel on a machine.
// starling/dace compiles, checks the arguments and lays out the words that the kernel's own data consists of.
#include <dlfcn.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>

#include "bindings.hpp"
#include "starling/machine/kernel_file.hpp"
#include "starling/program/accesses.hpp"
#include "starling/program/meeting.hpp"
#include "turns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

// Symmetric memory that arrays of a program lie in.
class program_memory {
 public:
  program_memory(bound_machine& on, std::int64_t bytes)
      : machine_(on.get()), memory_(machine_.allocate<std::byte>(bytes)) {}

  std::pair<std::uintptr_t, std::int64_t> words() const {
    return {reinterpret_cast<std::uintptr_t>(memory_.data().on(0)), memory_.data().stride_bytes()};
  }
  void write(int pe, std::int64_t offset, const nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>& from) {
    copy(at(pe, offset, from.nbytes()), from.data(), from.nbytes());
  }
  void read(int pe, std::int64_t offset, const nb::ndarray<nb::c_contig, nb::device::cpu>& to) {
    copy(to.data(), at(pe, offset, to.nbytes()), to.nbytes());
  }

 private:
  std::byte* at(int pe, std::int64_t offset, std::size_t bytes) const {
    expect<argument_error>(offset >= 0 && offset + static_cast<std::int64_t>(bytes) <= memory_.size(),
                           "program: an array of ", bytes, " bytes at ", offset, " over memory of ", memory_.size());
    return memory_.on(pe) + offset;
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    const nb::gil_scoped_release unlocked;
    if (bytes > 0) machine_.copy(to, from, bytes);
  }

  machine machine_;
  symmetric_array<std::byte> memory_;
};

class loaded_program {
 public:
  // Of a shared object for virtual devices, or of GPU code.
  loaded_program(const std::string& path, bool for_gpus) {
    if (for_gpus)
      load_for_gpus(path);
    else
      load_for_host(path);
  }

  int blocks_that_fit(bound_machine& on, int threads) const {
    return on.get().blocks_that_fit(kernel_, {.threads = threads});
  }

  // `words`: the kernel's data behind its signals and slots.
  void run(bound_machine& on, const std::vector<std::pair<std::string, int>>& roles, int threads, double deadline,
           index_t signals, const nb::bytes& words) {
    machine m = on.get();
    const std::string rest(static_cast<const char*>(words.data()), words.size());
    const nb::gil_scoped_release unlocked;
    role_plan plan;
    for (const auto& [name, blocks] : roles) plan.add(name, blocks);
    const int blocks = static_cast<int>(plan.blocks());
    const auto flags = m.allocate<signal>(signals > 0 ? signals : 1);
    const auto slots = m.allocate<generated::slot>(2 * blocks);
    struct {
      sym<signal> flags;
      sym<generated::slot> slots;
    } const own{flags.data(), slots.data()};
    auto data = std::make_shared<std::vector<std::uint64_t>>((sizeof own + rest.size()) / 8);
    std::memcpy(data->data(), &own, sizeof own);
    std::memcpy(data->data() + sizeof own / 8, rest.data(), rest.size());
    kernel k = kernel_;
    k.closure = std::shared_ptr<const void>(data, data->data());
    k.closure_bytes = sizeof own + rest.size();
    turns one(m.kind() == machine_kind::cuda);
    const turn mine(one, "the machine");
    m.run({starling::program{plan, k, {.threads = threads, .deadline = deadline}}});
  }

 private:
  void load_for_gpus(const std::string& path) {
    const kernel_file file(path);
    kernel_.on_gpu = file.find("starling_program_gpu");
    kernel_.on_gpu_traced = file.find("starling_program_gpu_traced");
    expect<argument_error>(kernel_.on_gpu != nullptr && kernel_.on_gpu_traced != nullptr, "program: ", path,
                           " holds no program");
  }

  void load_for_host(const std::string& path) {
    library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* p) {
      if (p != nullptr) dlclose(p);
    });
    expect<argument_error>(library_ != nullptr, "program: ", path, " cannot be loaded: ", library_ ? "" : dlerror());
    kernel_.on_host = reinterpret_cast<decltype(kernel_.on_host)>(find("starling_program_run"));
    expect<argument_error>(kernel_.on_host != nullptr, "program: ", path, " holds no program");
    using setter = void (*)(const generated::access_functions*);
    if (auto set = reinterpret_cast<setter>(find("starling_program_accesses"))) {
      const generated::access_functions own = generated::check_accesses();
      set(&own);
      kernel_.accesses_seen = true;
    }
  }

  void* find(const char* name) const { return dlsym(library_.get(), name); }

  std::shared_ptr<void> library_;
  kernel kernel_;  // without its data
};

}  // namespace

void bind_programs(nb::module_& m) {
  nb::class_<program_memory>(m, "ProgramMemory", "Symmetric memory of a generated program.")
      .def(nb::init<bound_machine&, std::int64_t>(), "machine"_a, "bytes"_a)
      .def_prop_ro("words", &program_memory::words, "The address on PE 0, and how far PEs are apart.")
      .def("write", &program_memory::write, "pe"_a, "offset"_a, "array"_a,
           nb::sig("def write(self, pe: int, offset: int, array: typing.Any) -> None"),
           "Copies an array into the memory, from a byte on.")
      .def("read", &program_memory::read, "pe"_a, "offset"_a, "array"_a,
           nb::sig("def read(self, pe: int, offset: int, array: typing.Any) -> None"),
           "Fills an array from the memory, from a byte on.");
  nb::class_<loaded_program>(m, "LoadedProgram", "A generated program, compiled.")
      .def(nb::init<const std::string&, bool>(), "path"_a, nb::kw_only(), "for_gpus"_a)
      .def("blocks_that_fit", &loaded_program::blocks_that_fit, "machine"_a, "threads"_a,
           "How many blocks of so many threads a PE holds at once.")
      .def("run", &loaded_program::run, "machine"_a, nb::kw_only(), "roles"_a, "threads"_a, "deadline"_a, "signals"_a,
           "words"_a);
  m.def("checking", [](bound_machine& on) { return on.get().checking(); }, "machine"_a);
}

}  // namespace starling::python
