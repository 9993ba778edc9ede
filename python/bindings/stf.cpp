#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "arguments.hpp"
#include "bindings.hpp"
#include "starling/stf/fnv1a.hpp"
#include "stf_context.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

using stf::data_place;
using stf::exec_place;

// The garbage collector follows the context to its runner, by which functions that wait may refer to the context, and
// to its allocators.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  bound_context& c = *nb::inst_ptr<bound_context>(self);
  Py_VISIT(c.runner().ptr());
  for (const auto& a : c.allocators()) Py_VISIT(a->calls().ptr());
  return 0;
}

int clear(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  bound_context& c = *nb::inst_ptr<bound_context>(self);
  c.runner().reset();
  for (const auto& a : c.allocators()) a->calls().reset();
  return 0;
}

stf::backend_kind backend_named(const std::string& name) {
  if (name == "stream") return stf::backend_kind::stream;
  if (name == "graph") return stf::backend_kind::graph;
  if (name == "automatic") return stf::backend_kind::automatic;
  throw argument_error(message("backend = '", name, "'; must be 'stream', 'graph' or 'automatic'"));
}

void make_context(bound_context* self, bound_machine& on, const std::string& backend, std::size_t device_memory,
                  bool drawing, nb::object runner, std::optional<bound_resources*> resources,
                  nb::object device_allocator, nb::object host_allocator) {
  stf::context_options options;
  options.backend = backend_named(backend);
  options.device_memory = device_memory;
  options.drawing = drawing;
  if (resources) options.resources = (*resources)->get();
  std::vector<std::shared_ptr<python_allocator>> allocators;
  const auto use = [&allocators](nb::object calls, std::shared_ptr<stf::allocator>& as) {
    if (!calls.is_none()) as = allocators.emplace_back(std::make_shared<python_allocator>(std::move(calls)));
  };
  use(std::move(device_allocator), options.device_allocator);
  use(std::move(host_allocator), options.host_allocator);
  new (self) bound_context(on.get(), options, std::move(runner), std::move(allocators));
}

PyType_Slot context_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};

nb::dict usage_of(const stf::place_usage& p) {
  nb::dict d;
  d["device"] = p.pe >= 0 ? nb::object(nb::int_(p.pe)) : nb::object(nb::none());
  d["managed"] = p.pe == managed_place;
  d["reserved"] = p.reserved;
  d["in_use"] = p.in_use;
  d["most_in_use"] = p.most_in_use;
  d["largest_free"] = p.largest_free;
  d["cap"] = p.cap;
  return d;
}

nb::dict class_of(const stf::task_class_usage& c) {
  nb::dict d;
  d["name"] = c.name;
  d["most_bytes"] = c.most_bytes;
  nb::list devices;
  for (const stf::task_class_usage::on_device& each : c.devices) {
    nb::dict on;
    on["device"] = each.pe;
    on["chosen"] = each.chosen;
    on["explored"] = each.explored;
    on["samples"] = each.samples;
    on["seconds"] = each.seconds;
    devices.append(on);
  }
  d["devices"] = devices;
  return d;
}

nb::dict epoch_of(const stf::epoch_class_usage& e) {
  const auto times_of = [](const stf::epoch_class_usage::times& t) {
    nb::dict d;
    d["epochs"] = t.epochs;
    d["samples"] = t.samples;
    d["seconds"] = t.seconds;
    return d;
  };
  nb::dict d;
  d["tasks"] = e.tasks;
  d["on_streams"] = times_of(e.on_streams);
  d["as_graph"] = times_of(e.as_graph);
  d["settled"] = e.settled;
  d["chosen"] = e.chosen == stf::backend_kind::graph ? "graph" : "stream";
  d["refused"] = e.refused;
  return d;
}

nb::dict statistics_of(bound_context& c) {
  const stf::statistics now = [&c] {
    const nb::gil_scoped_release unlocked;
    return c.get().statistics();
  }();
  nb::dict d;
  d["tasks"] = now.tasks;
  d["copies"] = now.copies;
  d["copied_bytes"] = now.copied_bytes;
  d["evictions"] = now.evictions;
  d["epochs"] = now.epochs;
  d["graphs_reused"] = now.graphs_reused;
  nb::list places;
  for (const stf::place_usage& p : now.places) places.append(usage_of(p));
  d["places"] = places;
  nb::list classes;
  for (const stf::task_class_usage& each : now.classes) classes.append(class_of(each));
  d["classes"] = classes;
  nb::list epochs;
  for (const stf::epoch_class_usage& each : now.epoch_classes) epochs.append(epoch_of(each));
  d["epoch_classes"] = epochs;
  return d;
}

void bind_places(nb::module_& m) {
  nb::class_<exec_place>(m, "exec_place", "Where a task runs.")
      .def_static(
          "device", [](nb::handle number) { return exec_place::device(device_number("exec_place::device", number)); },
          "number"_a.none(), nb::sig("def device(number: int) -> exec_place"),
          "A device of the context's machine, numbered from 0.")
      .def_static("host", &exec_place::host, "The host.")
      .def_static("all_devices", &exec_place::all_devices, "All devices of the context's machine, as one grid.")
      .def_static(
          "grid", [](nb::handle numbers) { return exec_place::grid(device_numbers("exec_place::grid", numbers)); },
          "numbers"_a.none(), nb::sig("def grid(numbers: collections.abc.Sequence[int]) -> exec_place"),
          "These devices as one grid, in this order.\n\nRaises:\n    ArgumentError: There are none.")
      .def_static("automatic", &exec_place::automatic,
                  "The device on which the context expects the task to end first, chosen when it begins.")
      .def(
          "devices",
          [](const exec_place& p, nb::handle n) {
            return p.devices(whole_number("n_devices", n, 0, std::numeric_limits<int>::max()));
          },
          "n_devices"_a.none(), nb::sig("def devices(self, n_devices: int) -> list[int]"),
          "Their numbers, on a machine of so many devices.")
      .def_prop_ro("is_host", &exec_place::is_host)
      .def_prop_ro("is_automatic", &exec_place::is_automatic, "Whether it was made by automatic.")
      .def_prop_ro("is_grid", &exec_place::is_grid, "Whether it was made by all_devices or grid.")
      .def("__eq__", [](const exec_place& a,
                        nb::handle b) { return nb::isinstance<exec_place>(b) && a == nb::cast<exec_place>(b); })
      .def("__hash__", [](const exec_place& p) { return std::hash<std::string>()(describe(p)); })
      .def("__repr__", [](const exec_place& p) { return message("<starling.stf.exec_place: ", describe(p), ">"); });
  nb::class_<data_place>(m, "data_place", "Where an instance of logical data lies.")
      .def_static("affine", &data_place::affine,
                  "Next to the execution: on the task's device; for a grid, partitioned over its devices in blocks.")
      .def_static(
          "device", [](nb::handle number) { return data_place::device(device_number("data_place::device", number)); },
          "number"_a.none(), nb::sig("def device(number: int) -> data_place"),
          "A device of the context's machine, numbered from 0.")
      .def_static("host", &data_place::host, "The host.")
      .def_static("managed", &data_place::managed, "In managed memory: one instance that the host and all devices use.")
      .def_static("replicated", &data_place::replicated,
                  "For read and prefetch: a copy on each device of a task over several.")
      .def_prop_ro("is_replicated", &data_place::is_replicated, "Whether it was made by replicated.")
      .def("__eq__", [](const data_place& a,
                        nb::handle b) { return nb::isinstance<data_place>(b) && a == nb::cast<data_place>(b); })
      .def("__hash__", [](const data_place& p) { return std::hash<std::string>()(describe(p)); })
      .def("__repr__", [](const data_place& p) { return message("<starling.stf.data_place: ", describe(p), ">"); });
}

void bind_tasks(nb::module_& m) {
  nb::class_<bound_data>(m, "StfData", "A handle to logical data.").def("set_name", &bound_data::set_name, "name"_a);
  nb::class_<bound_task>(m, "StfTask", "A task that was begun; one that dies before its end has failed.")
      .def("wait_for_data", &bound_task::wait_for_data, "Returns when its data is there.")
      .def("address", &bound_task::address, "access"_a, "place"_a, "Where the instance for an access begins.")
      .def("devices", &bound_task::devices, "The devices it runs on; -1 is the host.")
      .def("streams", &bound_task::streams, "A cudaStream_t for each device; 0 on virtual devices.")
      .def("call", &bound_task::call, "function"_a, "Gives it a function of the runner, by number, as its work.")
      .def("finish", &bound_task::finish)
      .def("fail", &bound_task::fail);
  nb::class_<bound_parts>(m, "StfParts", "Logical data that is split; one again when this dies.")
      .def("size", &bound_parts::size)
      .def("box", &bound_parts::box, "number"_a, "Of a part: begin and end in each dimension of the whole.")
      .def("rows_with_halo", &bound_parts::rows_with_halo, "number"_a)
      .def("part", &bound_parts::part, "number"_a)
      .def("join", &bound_parts::join);
  nb::class_<bound_frozen>(m, "StfFrozen", "Data outside of tasks, until unfreeze or its end.")
      .def_prop_ro("device", &bound_frozen::device, "The device; -1 is the host.")
      .def_prop_ro("stream", &bound_frozen::stream, "A cudaStream_t; 0 on virtual devices.")
      .def("get", &bound_frozen::get, "Where it begins; the stream waits for the value.")
      .def("synchronize", &bound_frozen::synchronize, "Until the stream's work is over.")
      .def("unfreeze", &bound_frozen::unfreeze, "Later tasks wait for the stream.");
  nb::class_<bound_recording>(m, "StfRecording", "Tasks that were recorded.")
      .def("launch", &bound_recording::launch, "n"_a, "Does them so often, without waiting.")
      .def("operations", &bound_recording::operations, "How many launches, copies, fills and calls they are.");
}

}  // namespace

void bind_stf(nb::module_& m) {
  m.def(
      "fnv1a", [](nb::bytes b) { return stf::fnv1a(reinterpret_cast<const std::byte*>(b.data()), b.size()); },
      "bytes"_a, "The 64 bits by which context::hash tells values apart.");
  bind_places(m);
  bind_tasks(m);
  nb::class_<bound_memory>(m, "StfMemory", "Keeps the memory of a context's data in place.");
  nb::class_<bound_resources>(m, "StfResources", "What contexts of one machine share.")
      .def(
          "__init__",
          [](bound_resources* self, bound_machine& on, int graphs_kept) {
            new (self) bound_resources(on.get(), graphs_kept);
          },
          "machine"_a, "graphs_kept"_a)
      .def("idle", &bound_resources::idle, "Contexts, graphs and bytes of memory that nobody has.")
      .def("release", &bound_resources::release, "Gives that back to the machine.");
  nb::class_<bound_context>(m, "StfContext", nb::type_slots(context_slots), "A context of task flow.")
      .def("__init__", &make_context, "machine"_a, nb::kw_only(), "backend"_a, "device_memory"_a, "drawing"_a,
           "runner"_a, "resources"_a.none(), "device_allocator"_a.none(), "host_allocator"_a.none(),
           nb::sig("def __init__(self, machine: Machine, *, backend: str, device_memory: int, drawing: bool, "
                   "runner: collections.abc.Callable[[int], None], resources: StfResources | None, "
                   "device_allocator: object | None, host_allocator: object | None) -> None"))
      .def("adopt", &bound_context::adopt, "address"_a, "shape"_a, "element_bytes"_a, "pitch"_a, "place"_a,
           "write_back"_a, "secret"_a)
      .def("new_data", &bound_context::new_data, "shape"_a, "element_bytes"_a, "secret"_a)
      .def("token", &bound_context::token)
      .def("memory", &bound_context::memory)
      .def("begin", &bound_context::begin, "where"_a, "accesses"_a, "name"_a, "priority"_a)
      .def("split", &bound_context::split, "whole"_a, "shape"_a, "element_bytes"_a, "counts"_a, "halo"_a, "periodic"_a,
           "where"_a)
      .def("freeze", &bound_context::freeze, "access"_a)
      .def("prefetch", &bound_context::prefetch, "data"_a, "where"_a)
      .def("record", &bound_context::record, "body"_a)
      .def("repeat", &bound_context::repeat, "n"_a, "body"_a)
      .def("repeat_while", &bound_context::repeat_while, "flag"_a, "body"_a, "most"_a)
      .def("run_if", &bound_context::run_if, "flag"_a, "body"_a, "otherwise"_a.none())
      .def(
          "fence", [](bound_context& c) { c.get().fence(); }, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "fence_before",
          [](bound_context& c, std::uintptr_t stream) { c.get().fence_event().hold(reinterpret_cast<void*>(stream)); },
          "stream"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "synchronize", [](bound_context& c) { c.get().synchronize(); }, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "finalize", [](bound_context& c) { c.get().finalize(); }, nb::call_guard<nb::gil_scoped_release>())
      .def("statistics", &statistics_of, nb::sig("def statistics(self) -> dict[str, typing.Any]"))
      .def(
          "explain", [](bound_context& c) { return c.get().explain(); }, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "dot", [](bound_context& c) { return c.get().dot(); }, nb::call_guard<nb::gil_scoped_release>())
      .def("mermaid", [](bound_context& c) { return c.get().mermaid(); }, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace starling::python
