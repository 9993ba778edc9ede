// The parts of the Python module starling._starling, one per source. Everything a user sees is in python/starling; this
// module only carries calls over, with the interpreter lock released while C++ works.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "starling/machine/machine.hpp"

namespace starling::python {

// A message of the library with the names that a user of Python knows: machine.host instead of machine::host.
std::string in_python(std::string text);

// C++ errors become the classes of starling/errors.py.
void bind_errors(nanobind::module_& m);
void bind_environment(nanobind::module_& m);
void bind_faults(nanobind::module_& m);
// Machine.inject and the like.
void bind_injection(nanobind::class_<machine>& m);
void bind_machine(nanobind::module_& m);
void bind_stencil(nanobind::module_& m);
void bind_cg(nanobind::module_& m);
void bind_comm(nanobind::module_& m);
void bind_stf(nanobind::module_& m);

}  // namespace starling::python
