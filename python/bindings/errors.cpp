// Every error class of Starling becomes its namesake in starling/errors.py, which is looked up when one is thrown: the
// module keeps no reference to Python objects, so nothing is left over when the interpreter ends.
#include "starling/base/error.hpp"

#include <nanobind/stl/string.h>

#include <string_view>

#include "bindings.hpp"
#include "starling/machine/check.hpp"
#include "starling/machine/stall_error.hpp"
#include "starling/stf/task_error.hpp"

namespace nb = nanobind;

namespace starling::python {
namespace {

const char* name(block_state s) {
  switch (s) {
    case block_state::running:
      return "running";
    case block_state::waiting:
      return "waiting";
    case block_state::expired:
      return "expired";
    case block_state::out_of_range:
      return "out_of_range";
    case block_state::not_resident:
      return "not_resident";
    case block_state::finished:
      return "finished";
    case block_state::incomplete:
      return "incomplete";
    case block_state::near_side:
      return "near_side";
    case block_state::not_symmetric:
      return "not_symmetric";
    case block_state::network_failed:
      return "network_failed";
    case block_state::late:
      return "late";
  }
  return "?";
}

nb::int_ in_its_type(word_kind k, std::uint64_t value) {
  return is_signed(k) ? nb::int_(static_cast<std::int64_t>(value)) : nb::int_(value);
}

nb::dict to_dict(const block_report& r) {
  nb::dict d;
  d["pe"] = r.pe;
  d["block"] = r.block;
  d["role"] = r.role;
  d["state"] = name(r.state);
  d["operation"] = starling::name(r.op);
  d["peer"] = r.peer == any_pe ? nb::object(nb::none()) : nb::object(nb::int_(r.peer));
  d["compare"] = symbol(r.how);
  d["signal_offset"] = r.signal_offset;
  d["wanted"] = in_its_type(r.kind, r.wanted);
  d["seen"] = in_its_type(r.kind, r.seen);
  d["file"] = nb::str(r.file);
  d["line"] = r.line;
  return d;
}

nb::object class_named(const char* name) { return nb::module_::import_("starling.errors").attr(name); }

void raise(const char* name, const error& e) { PyErr_SetString(class_named(name).ptr(), in_python(e.what()).c_str()); }

void raise_stall(const stall_error& e) {
  nb::list reports;
  for (const block_report& r : e.reports()) reports.append(to_dict(r));
  nb::list cycle;
  for (const block_id& b : e.cycle()) cycle.append(nb::make_tuple(b.pe, b.block));
  nb::list injected;
  for (const std::string& fault : e.injected()) injected.append(nb::str(fault.c_str()));
  const nb::object type = class_named("StallError");
  PyErr_SetObject(type.ptr(), type(in_python(e.what()), reports, cycle, injected).ptr());
}

void raise_check(const check_error& e) {
  nb::list blocks;
  for (const block_history& b : e.blocks()) {
    nb::dict d;
    d["pe"] = b.pe;
    d["block"] = b.block;
    d["role"] = nb::str(b.role.c_str());
    nb::list calls;
    for (const std::string& c : b.calls) calls.append(nb::str(c.c_str()));
    d["calls"] = calls;
    blocks.append(d);
  }
  const nb::object type = class_named("CheckError");
  PyErr_SetObject(type.ptr(), type(in_python(e.what()), starling::name(e.what_kind()), e.seed(), blocks).ptr());
}

// Errors that are no Starling error fall through to nanobind, which knows those of the standard library.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const stall_error& e) {
    raise_stall(e);
  } catch (const check_error& e) {
    raise_check(e);
  } catch (const argument_error& e) {
    raise("ArgumentError", e);
  } catch (const type_error& e) {
    raise("ElementTypeError", e);
  } catch (const range_error& e) {
    raise("RangeError", e);
  } catch (const memory_error& e) {
    raise("OutOfMemory", e);
  } catch (const launch_error& e) {
    raise("LaunchError", e);
  } catch (const unsupported_error& e) {
    raise("Unsupported", e);
  } catch (const device_error& e) {
    raise("DeviceError", e);
  } catch (const region_error& e) {
    raise("RegionError", e);
  } catch (const fault_error& e) {
    raise("FaultError", e);
  } catch (const process_error& e) {
    raise("ProcessError", e);
  } catch (const network_error& e) {
    raise("NetworkError", e);
  } catch (const stf::task_error& e) {
    raise("TaskError", e);
  } catch (const error& e) {
    raise("Error", e);
  }
}

}  // namespace

std::string in_python(std::string text) {
  const auto replace = [&text](std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("machine::inject({})", "Machine.inject([])");
  replace("machine::inject", "Machine.inject");
  replace("or any_pe", "or None");
  replace("or any_block", "or None");
  replace("context::", "Context.");
  replace("host_region_options::", "");
  replace("region_options::chunk_bytes", "chunk");
  replace("region_options::", "");
  replace("region::", "Region.");
  replace("context_options{.drawing = true}", "stf.context(drawing=True)");
  replace("data_place::", "data_place.");
  replace("exec_place::", "exec_place.");
  replace("machine::", "machine.");
  replace("launch_options::", "");
  replace("launch_options: ", "");
  replace("check_options{.first_seed = ", "starling.check(..., first_seed=");
  replace(", .seeds = 1}", ", seeds=1)");
  return text;
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace starling::python
