#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "comm/measure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

// Python's view of each result as it comes, with the signals of the process: what it raises ends the measurement.
void tell(const nb::handle& told, const comm::measurement& r) {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (!told.is_none()) told(r);
}

std::vector<comm::measurement> measure(bound_machine& on, const std::vector<index_t>& bytes,
                                       const std::vector<std::string>& ways,
                                       const std::vector<std::pair<int, int>>& pairs, int repetitions, double seconds,
                                       int blocks, bool meetings, const nb::object& told) {
  comm::bench_options o{bytes, {}, pairs, repetitions, seconds, blocks, meetings};
  for (const std::string& name : ways) o.ways.push_back(comm::way_named(name));
  machine where = on.get();
  const nb::gil_scoped_release unlocked;
  return comm::measure_all(where, o, [&](const comm::measurement& r) { tell(told, r); });
}

}  // namespace

void bind_comm(nb::module_& m) {
  using comm::measurement;
  nb::class_<measurement>(m, "CommunicationTime", "How long a message or a call took, by repetition.")
      .def_ro("what", &measurement::what)
      .def_prop_ro("measure", [](const measurement& r) { return std::string(comm::name(r.of)); })
      .def_ro("source", &measurement::from)
      .def_ro("destination", &measurement::to)
      .def_ro("bytes", &measurement::bytes)
      .def_ro("blocks", &measurement::blocks)
      .def_ro("threads", &measurement::threads)
      .def_ro("iterations", &measurement::iterations)
      .def_ro("microseconds", &measurement::us);
  m.def("measure_communication", &measure, "machine"_a, nb::kw_only(), "bytes"_a, "ways"_a, "pairs"_a, "repetitions"_a,
        "seconds"_a, "blocks"_a, "meetings"_a, "told"_a.none());
  m.def(
      "communication_ways",
      [] {
        std::vector<std::string> names;
        for (const comm::way w : comm::all_ways) names.emplace_back(comm::name(w));
        return names;
      },
      "The names of the ways in which bytes get from one device to another.");
}

}  // namespace starling::python
