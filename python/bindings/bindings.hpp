// The parts of the Python module starling._starling, one per source. Everything a user sees is in python/starling; this
// module only carries calls over, with the interpreter lock released while C++ works.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>

#include "starling/base/error.hpp"
#include "starling/machine/machine.hpp"

namespace starling::python {

// A message of the library with the names that a user of Python knows: machine.host instead of machine::host.
std::string in_python(std::string text);

// A machine for Python, which can be closed: from then on it is refused everywhere. What was made on it has its own
// hold on the devices.
class bound_machine {
 public:
  explicit bound_machine(machine m) : machine_(std::move(m)) {}

  bool closed() const { return !machine_.has_value(); }
  // Without the interpreter lock: threads of streams may need it to end.
  void close() {
    const nanobind::gil_scoped_release unlocked;
    machine_.reset();
  }
  machine& get() {
    expect<argument_error>(!closed(), "this machine was closed; make another one");
    return *machine_;
  }

 private:
  std::optional<machine> machine_;
};

// C++ errors become the classes of starling/errors.py.
void bind_errors(nanobind::module_& m);
void bind_environment(nanobind::module_& m);
void bind_faults(nanobind::module_& m);
// Machine.inject and the like.
void bind_injection(nanobind::class_<bound_machine>& m);
void bind_machine(nanobind::module_& m);
void bind_stencil(nanobind::module_& m);
void bind_cg(nanobind::module_& m);
void bind_comm(nanobind::module_& m);
void bind_gio(nanobind::module_& m);
void bind_iterations(nanobind::module_& m);
void bind_region(nanobind::module_& m);
void bind_overlap(nanobind::module_& m);
void bind_programs(nanobind::module_& m);
void bind_stf(nanobind::module_& m);
void bind_shmem(nanobind::module_& m);

}  // namespace starling::python
