#include "bindings.hpp"

// Built twice: STARLING_MODULE is _starling, or _starling_checked, whose kernels let check mode see their accesses.
NB_MODULE(STARLING_MODULE, m) {
  m.doc() = "The native part of Starling. Import starling instead; names here may change.";
  m.attr("version") = STARLING_VERSION;
  starling::python::bind_errors(m);
  starling::python::bind_environment(m);
  starling::python::bind_faults(m);
  starling::python::bind_machine(m);
  starling::python::bind_stencil(m);
  starling::python::bind_cg(m);
  starling::python::bind_comm(m);
  starling::python::bind_gio(m);
  starling::python::bind_iterations(m);
  starling::python::bind_region(m);
  starling::python::bind_overlap(m);
  starling::python::bind_programs(m);
  starling::python::bind_stf(m);
  starling::python::bind_shmem(m);
}
