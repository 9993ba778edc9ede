#include "gio/measure.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

// Each result as it comes, with the signals of the process: what Python raises ends the measurement.
void tell(const nb::handle& told, const gio::measurement& r) {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (!told.is_none()) told(r);
}

std::vector<gio::measurement> measure(bound_machine& on, const std::string& way, const std::vector<index_t>& bytes,
                                      const std::vector<int>& blocks, int repetitions, int iterations,
                                      const nb::object& told) {
  const gio::way by = gio::way_named(way);
  machine where = on.get();
  const nb::gil_scoped_release unlocked;
  return gio::measure(where, by, {bytes, blocks, repetitions, iterations},
                      [&](const gio::measurement& r) { tell(told, r); });
}

nb::dict cycles(bound_machine& on, bool whole, int posts) {
  machine where = on.get();
  gio::post_cycles found{};
  {
    const nb::gil_scoped_release unlocked;
    found = gio::cycles_of_posts(where, whole, posts);
  }
  nb::dict all;
  all["to_entry"] = found.to_entry;
  all["to_doorbell"] = found.to_doorbell;
  return all;
}

}  // namespace

void bind_gio(nb::module_& m) {
  using gio::measurement;
  nb::class_<measurement>(m, "CardTime", "How long a put to another host took, by repetition.")
      .def_prop_ro("what", [](const measurement& r) { return std::string(gio::name(r.what)); })
      .def_prop_ro("way", [](const measurement& r) { return std::string(gio::name(r.by)); })
      .def_ro("bytes", &measurement::bytes)
      .def_ro("blocks", &measurement::blocks)
      .def_ro("iterations", &measurement::iterations)
      .def_ro("microseconds", &measurement::us);
  m.def("measure_cards", &measure, "machine"_a, "way"_a, nb::kw_only(), "bytes"_a, "blocks"_a, "repetitions"_a,
        "iterations"_a, "told"_a.none());
  m.def("cycles_of_posts", &cycles, "machine"_a, nb::kw_only(), "whole"_a, "posts"_a,
        nb::sig("def cycles_of_posts(machine: Machine, *, whole: bool, posts: int) -> dict[str, int]"));
  m.def(
      "card_ways",
      [] {
        std::vector<std::string> names;
        for (const gio::way w : gio::all_ways) names.emplace_back(gio::name(w));
        return names;
      },
      "The names of the ways in which puts to another host are measured.");
}

}  // namespace starling::python
