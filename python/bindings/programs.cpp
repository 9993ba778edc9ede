// Generated programs: loads what one was compiled to, a shared object or GPU code, and runs its kernel on a machine.
// starling/dace compiles, checks the arguments and lays out the words that the kernel's own data consists of.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "bindings.hpp"
#include "program_file.hpp"
#include "program_hosts.hpp"
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

// What the data of a kernel begins with.
struct own_memory {
  sym<signal> signals;
  sym<generated::slot> slots;
  sym<packet> packets;
};

// The words that it consists of: these, then `rest`.
std::vector<std::uint64_t> data_of(const own_memory& own, const nb::bytes& rest) {
  std::vector<std::uint64_t> data((sizeof own + rest.size()) / 8);
  std::memcpy(data.data(), &own, sizeof own);
  std::memcpy(data.data() + sizeof own / 8, rest.data(), rest.size());
  return data;
}

class loaded_program {
 public:
  // Of a shared object for virtual devices, or of GPU code.
  loaded_program(const std::string& path, bool for_gpus)
      : file_(path, for_gpus), kernel_(file_.find("starling_program")) {}

  int blocks_that_fit(bound_machine& on, int threads) const {
    return on.get().blocks_that_fit(kernel_, {.threads = threads});
  }

  // `words`: the kernel's data behind its own memory.
  void run(bound_machine& on, const std::vector<std::pair<std::string, int>>& roles, int threads, double deadline,
           index_t signals, index_t packets, const nb::bytes& words) {
    machine m = on.get();
    role_plan plan;
    for (const auto& [name, blocks] : roles) plan.add(name, blocks);
    const auto flags = m.allocate<signal>(signals > 0 ? signals : 1);
    const auto slots = m.allocate<generated::slot>(2 * plan.blocks());
    const auto boxes = m.allocate<packet>(packets > 0 ? packets : 1);
    auto data =
        std::make_shared<std::vector<std::uint64_t>>(data_of({flags.data(), slots.data(), boxes.data()}, words));
    const nb::gil_scoped_release unlocked;
    // Messages are numbered from 1 on in every run.
    for (int pe = 0; pe < m.size() && packets > 0; ++pe)
      m.fill(boxes.on(pe), 0, static_cast<std::size_t>(packets) * sizeof(packet));
    kernel k = kernel_;
    k.closure = std::shared_ptr<const void>(data, data->data());
    k.closure_bytes = 8 * data->size();
    turns one(m.kind() == machine_kind::cuda);
    const turn mine(one, "the machine");
    m.run({starling::program{plan, k, {.threads = threads, .deadline = deadline}}});
  }

 private:
  program_file file_;
  kernel kernel_;  // without its data
};

// A program whose time loop the host runs: its phases, and what the thread of a PE does.
class hosted_program {
 public:
  // `path`: of the phases, a shared object or GPU code; `host_path`: of a shared object with the rest.
  hosted_program(const std::string& path, const std::string& host_path, bool for_gpus, int phases)
      : file_(path, for_gpus), host_(host_path, false) {
    for (int k = 0; k < phases; ++k) phases_.push_back(file_.find("starling_phase_" + std::to_string(k)));
    program_ = reinterpret_cast<program_hosts::entry>(host_.function("starling_host_program"));
  }

  // The fewest of its phases.
  int blocks_that_fit(bound_machine& on, int threads) const {
    int fewest = std::numeric_limits<int>::max();
    for (const kernel& k : phases_) fewest = std::min(fewest, on.get().blocks_that_fit(k, {.threads = threads}));
    return fewest;
  }

  std::unique_ptr<program_hosts> hosts(machine m, const std::string& order, bool one_thread, int blocks, int threads,
                                       index_t signals) const {
    return std::make_unique<program_hosts>(
        std::move(m), phases_, program_, order == "call" ? host_order::calls : host_order::events,
        one_thread ? host_threads::one : host_threads::of_each_pe, blocks, threads, signals);
  }

 private:
  program_file file_;
  program_file host_;
  std::vector<kernel> phases_;
  program_hosts::entry program_ = nullptr;
};

// Streams and events of a program on a machine; for many runs.
class bound_hosts {
 public:
  bound_hosts(bound_machine& on, std::shared_ptr<const hosted_program> program, const std::string& control,
              bool one_thread, int blocks, int threads, index_t signals)
      : turns_(on.get().kind() == machine_kind::cuda),
        program_(std::move(program)),
        hosts_(program_->hosts(on.get(), control, one_thread, blocks, threads, signals)) {}
  ~bound_hosts() {
    const nb::gil_scoped_release unlocked;
    hosts_.reset();
  }
  bound_hosts(const bound_hosts&) = delete;
  bound_hosts& operator=(const bound_hosts&) = delete;

  void run(double deadline, const nb::bytes& words) {
    const std::vector<std::uint64_t> data = data_of({{}, hosts_->slots(), {}}, words);
    const nb::gil_scoped_release unlocked;
    const turn mine(turns_, "the program");
    hosts_->run(data.data(), deadline);
  }

 private:
  turns turns_;
  std::shared_ptr<const hosted_program> program_;
  std::unique_ptr<program_hosts> hosts_;
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
           "packets"_a, "words"_a);
  nb::class_<hosted_program>(m, "HostedProgram", "A generated program whose time loop the host runs, compiled.")
      .def(nb::init<const std::string&, const std::string&, bool, int>(), "path"_a, "host_path"_a, nb::kw_only(),
           "for_gpus"_a, "phases"_a)
      .def("blocks_that_fit", &hosted_program::blocks_that_fit, "machine"_a, "threads"_a,
           "How many blocks of so many threads a PE holds at once, of any phase.");
  nb::class_<bound_hosts>(m, "ProgramHosts", "The threads of the host that run such a program on a machine.")
      .def(nb::init<bound_machine&, std::shared_ptr<const hosted_program>, const std::string&, bool, int, int,
                    index_t>(),
           "machine"_a, "program"_a, nb::kw_only(), "control"_a, "one_thread"_a, "blocks"_a, "threads"_a, "signals"_a)
      .def("run", &bound_hosts::run, nb::kw_only(), "deadline"_a, "words"_a);
  m.def("checking", [](bound_machine& on) { return on.get().checking(); }, "machine"_a);
}

}  // namespace starling::python
