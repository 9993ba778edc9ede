#include "bindings.hpp"

NB_MODULE(_starling, m) {
  m.doc() = "The native part of Starling. Import starling instead; names here may change.";
  m.attr("version") = STARLING_VERSION;
  starling::python::bind_errors(m);
  starling::python::bind_environment(m);
  starling::python::bind_faults(m);
  starling::python::bind_machine(m);
  starling::python::bind_stencil(m);
}
