#include "starling/base/environment.hpp"

#include <nanobind/stl/string.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {

void bind_environment(nb::module_& m) {
  m.def(
      "environment",
      [] {
        nb::list all;
        for (const environment_variable& v : describe(environment::read()))
          all.append(nb::make_tuple(v.name, v.meaning, v.value));
        return all;
      },
      nb::sig("def environment() -> list[tuple[str, str, str]]"),
      "Name, meaning and value of every environment variable that Starling reads; raises ArgumentError for a value "
      "that "
      "cannot be read.");
  m.def("parse_bytes", &parse_bytes, "text"_a, "what"_a,
        "The bytes of a text such as \"512M\"; `what` is named in errors.");
  m.def("format_bytes", &format_bytes, "bytes"_a, "Bytes for people: \"1.5 KiB\".");
}

}  // namespace starling::python
