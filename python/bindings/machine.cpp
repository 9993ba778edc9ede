#include "starling/machine/machine.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "arguments.hpp"
#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

std::optional<card> card_named(const char* call, const std::string& name) {
  if (name.empty()) return {};
  expect<argument_error>(name == "model" || name == "proxy", call, ": card = \"", name, "\"; must be model or proxy");
  return name == "proxy" ? card::proxy : card::model;
}

bound_machine host(int devices, std::int64_t memory, int max_blocks, const std::vector<int>& hosts,
                   const std::string& card_name, int queue_depth) {
  expect<argument_error>(memory >= 0, "machine.host: memory = ", memory,
                         "; must be a number of bytes of at least 1, or 0 for STARLING_HOST_MEMORY");
  const nb::gil_scoped_release unlocked;
  return bound_machine(machine::host(devices, {.memory_bytes = static_cast<std::size_t>(memory),
                                               .max_blocks = max_blocks,
                                               .hosts = hosts,
                                               .card = card_named("machine.host", card_name),
                                               .queue_depth = queue_depth}));
}

bound_machine cuda(const std::vector<int>& ids, std::optional<int> pes_per_gpu, const std::string& sharing, bool answer,
                   const std::vector<int>& hosts, const std::string& card_name, int queue_depth) {
  expect<argument_error>(sharing == "auto" || sharing == "partitions" || sharing == "plain",
                         "machine.cuda: sharing = \"", sharing, "\"; must be auto, partitions or plain");
  const gpu_sharing how = sharing == "partitions" ? gpu_sharing::partitions
                          : sharing == "plain"    ? gpu_sharing::plain
                                                  : gpu_sharing::automatic;
  return bound_machine(machine::cuda(ids, {.pes_per_gpu = pes_per_gpu,
                                           .sharing = how,
                                           .answer = answer,
                                           .hosts = hosts,
                                           .card = card_named("machine.cuda", card_name),
                                           .queue_depth = queue_depth}));
}

bound_machine distributed(int pes, std::int64_t memory, int max_blocks, const std::string& kind) {
  expect<argument_error>(memory >= 0, "machine.distributed: memory = ", memory,
                         "; must be a number of bytes of at least 1, or 0 for STARLING_HOST_MEMORY");
  const nb::gil_scoped_release unlocked;
  std::optional<machine_kind> devices;
  if (!kind.empty()) devices = kind == name(machine_kind::cuda) ? machine_kind::cuda : machine_kind::host;
  return bound_machine(machine::distributed(
      {.pes = pes, .memory_bytes = static_cast<std::size_t>(memory), .max_blocks = max_blocks, .kind = devices}));
}

std::string describe(bound_machine& self) {
  if (self.closed()) return "<starling.Machine: closed>";
  return message("<starling.Machine: ", self.get().summary(), ">");
}

bound_machine checked_host(int devices, std::uint64_t seeds, std::uint64_t first_seed, int threads) {
  const nb::gil_scoped_release unlocked;
  return bound_machine(machine::host(devices).check({.first_seed = first_seed, .seeds = seeds, .threads = threads}));
}

nb::dict checked(bound_machine& m) {
  const check_summary c = m.get().checked();
  nb::dict d;
  d["programs"] = c.programs;
  d["schedules"] = c.schedules;
  d["calls"] = c.calls;
  d["deliveries"] = c.deliveries;
  d["seconds"] = c.seconds;
  d["accesses_seen"] = c.accesses_seen;
  d["threads_seen"] = c.threads_seen;
  d["written_alike"] = c.written_alike;
  return d;
}

const char* name(peer_link link) {
  switch (link) {
    case peer_link::self:
      return "self";
    case peer_link::same_device:
      return "same_device";
    case peer_link::direct:
      return "direct";
    case peer_link::card:
      return "card";
    case peer_link::none:
      return "none";
  }
  return "?";
}

nb::list devices(bound_machine& m) {
  nb::list all;
  for (int pe = 0; pe < m.get().size(); ++pe) all.append(m.get().device(pe));
  return all;
}

nb::list traffic(bound_machine& m) {
  nb::list all;
  for (const pair_traffic& t : m.get().traffic())
    all.append(nb::make_tuple(t.source, t.destination, t.engine, t.bytes));
  return all;
}

nb::object html(nb::handle self) {
  if (nb::cast<bound_machine&>(self).closed()) return nb::str("a machine that was closed");
  return nb::module_::import_("starling.machine").attr("html_of")(self);
}

void bind_facts(nb::module_& m) {
  nb::class_<device_info>(m, "DeviceInfo", "What a machine says of one of its devices.")
      .def_ro("name", &device_info::name)
      .def_ro("id", &device_info::id, "CUDA ordinal, or number of the virtual device.")
      .def_ro("memory_bytes", &device_info::memory_bytes, "Of a GPU that PEs share, this PE's share.")
      .def_ro("multiprocessors", &device_info::multiprocessors,
              "0 on virtual devices; of a GPU that PEs share, this PE's share.")
      .def_ro("scratch_bytes", &device_info::scratch_bytes, "The most scratch memory that one block may have.")
      .def_ro("compute_capability", &device_info::compute_capability, "90 for 9.0; 0 on virtual devices.")
      .def_ro("gpu", &device_info::gpu, "CUDA ordinal of the GPU that it is on; -1: a virtual device.")
      .def_ro("pes_on_gpu", &device_info::pes_on_gpu, "PEs of the machine on this GPU.")
      .def_ro("partitioned", &device_info::partitioned,
              "Whether it shares the GPU and has multiprocessors that no other PE can take.")
      .def("__repr__", [](const device_info& d) {
        const std::string shared = d.pes_on_gpu > 1 ? message(", 1 of ", d.pes_on_gpu, " PEs") : std::string();
        return message("<starling.DeviceInfo: ", d.name, shared, ">");
      });
  nb::class_<memory_info>(m, "MemoryInfo", "Symmetric memory of a machine, the same on every device, in bytes.")
      .def_ro("capacity", &memory_info::capacity)
      .def_ro("in_use", &memory_info::in_use)
      .def_ro("largest_free", &memory_info::largest_free, "The largest array that still fits.")
      .def("__repr__", [](const memory_info& i) {
        return message("<starling.MemoryInfo: ", i.in_use, " of ", i.capacity, " bytes in use>");
      });
  nb::class_<machine::cuda_status>(m, "CudaStatus", "Whether GPUs can be used, and if not, why.")
      .def_ro("built", &machine::cuda_status::built, "Whether this build has a CUDA part.")
      .def_ro("devices", &machine::cuda_status::devices, "How many GPUs the driver shows.")
      .def_ro("driver", &machine::cuda_status::driver, "CUDA version of the driver; empty without one.")
      .def_ro("runtime", &machine::cuda_status::runtime, "CUDA version of the build; empty without a CUDA part.")
      .def_ro("problem", &machine::cuda_status::problem, "Empty when there is none.")
      .def_prop_ro("remedy", [](const machine::cuda_status& s) { return in_python(s.remedy); });
}

}  // namespace

void bind_machine(nb::module_& m) {
  bind_facts(m);
  m.def("probe_cuda", &machine::probe_cuda, nb::call_guard<nb::gil_scoped_release>());
  using self_t = bound_machine;
  nb::class_<bound_machine> c(
      m, "Machine",
      "An ordered set of devices that run one program; each is a processing element (PE), numbered from 0.");
  c.def_static("host", &host, "devices"_a = 4, nb::kw_only(), "memory"_a = 0, "max_blocks"_a = 0,
               "hosts"_a = std::vector<int>(), "card"_a = "", "queue_depth"_a = 64)
      .def_static("distributed", &distributed, "pes"_a = 0, nb::kw_only(), "memory"_a = 0, "max_blocks"_a = 0,
                  "kind"_a = "")
      .def_static("cuda", &cuda, "ids"_a = std::vector<int>(), nb::kw_only(), "pes_per_gpu"_a = nb::none(),
                  "sharing"_a = "auto", "answer"_a = true, "hosts"_a = std::vector<int>(), "card"_a = "",
                  "queue_depth"_a = 64, nb::call_guard<nb::gil_scoped_release>())
      .def_static(
          "best", [](int devices) { return bound_machine(machine::best(devices)); }, "devices"_a = 0,
          nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro(
          "kind", [](self_t& self) { return starling::name(self.get().kind()); },
          "What its devices are: \"host\" or \"cuda\".")
      .def_prop_ro(
          "size", [](self_t& self) { return self.get().size(); }, "How many devices there are.")
      .def_prop_ro("devices", &devices, nb::sig("def devices(self) -> list[DeviceInfo]"), "What each device is, by PE.")
      .def_prop_ro(
          "processes", [](self_t& self) { return self.get().processes(); },
          "How many processes share it: 1, unless it is distributed.")
      .def_prop_ro(
          "process", [](self_t& self) { return self.get().process(); }, "The number of this one, from 0.")
      .def_prop_ro(
          "local_pes",
          [](self_t& self) {
            const index_range own = self.get().local_pes();
            return nb::module_::import_("builtins").attr("range")(own.begin, own.end);
          },
          nb::sig("def local_pes(self) -> range"), "The PEs of this process.")
      .def_prop_ro(
          "transport", [](self_t& self) { return self.get().transport(); },
          "What carries data between processes of different hosts: \"mpi\" or \"nvshmem\"; \"direct\" where all "
          "are on one.")
      .def(
          "host_of", [](self_t& self, nb::handle pe) { return self.get().host_of(pe_number("pe", pe)); }, "pe"_a.none(),
          nb::sig("def host_of(self, pe: int) -> int"), "The host that a PE is on, from 0.")
      .def_prop_ro(
          "sent_bytes", [](self_t& self) { return self.get().sent_bytes(); },
          nb::sig("def sent_bytes(self) -> list[int]"),
          "Bytes of data that this process has sent to each process as messages; none to those of its own host.")
      .def_prop_ro("traffic", &traffic, nb::sig("def traffic(self) -> list[tuple[int, int, str, int]]"),
                   "What calls of this process have moved between PEs since the machine was made: source, destination, "
                   "engine and bytes, as of starling.machine.Traffic. Of GPUs what goes to other hosts.")
      .def(
          "meet", [](self_t& self) { self.get().meet(); }, nb::call_guard<nb::gil_scoped_release>(),
          "Returns when every process has called it.")
      .def(
          "agree",
          [](self_t& self, nb::handle mine) {
            const double value = floating_number("mine", mine);
            const nb::gil_scoped_release unlocked;
            return self.get().agree(value);
          },
          "mine"_a.none(), nb::sig("def agree(self, mine: float) -> float"),
          "The value that process 0 passes; every process calls it, for what all must decide alike.")
      .def_prop_ro(
          "memory", [](self_t& self) { return self.get().memory(); }, "How symmetric memory stands.")
      .def_prop_ro(
          "choice", [](self_t& self) { return self.get().choice(); }, "Which machine was taken and why, in words.")
      .def_prop_ro(
          "summary", [](self_t& self) { return self.get().summary(); },
          "What it has, in words: \"4 virtual devices\", \"2 GPUs\", \"4 PEs on 1 GPU\".")
      .def(
          "link",
          [](self_t& self, nb::handle from_pe, nb::handle to_pe) {
            return name(self.get().link(pe_number("from_pe", from_pe), pe_number("to_pe", to_pe)));
          },
          "from_pe"_a.none(), "to_pe"_a.none(), nb::sig("def link(self, from_pe: int, to_pe: int) -> str"),
          "How one PE reaches the memory of another: \"self\", \"same_device\" (of the same GPU), \"direct\", "
          "\"card\" or \"none\".")
      .def(
          "trace_to",
          [](self_t& self, nb::handle path, nb::handle records) {
            machine traced = self.get();
            const std::string file = file_name("path", path);
            const int kept = whole_number("records", records, 0, std::numeric_limits<int>::max());
            const nb::gil_scoped_release unlocked;
            traced.trace_to(file, {.records = kept});
          },
          "path"_a.none(), nb::kw_only(), "records"_a.none() = 0,
          nb::sig("def trace_to(self, path: str | os.PathLike[str], *, records: int = 0) -> None"),
          "Records what programs, streams and allocations do into a new file, which starling.trace.read reads.")
      .def(
          "end_trace",
          [](self_t& self) {
            machine traced = self.get();
            const nb::gil_scoped_release unlocked;
            traced.end_trace();
          },
          "Ends the recording; nothing when there is none.")
      .def_prop_ro(
          "trace_path", [](self_t& self) { return text_of_file_name(self.get().trace_path()); },
          nb::sig("def trace_path(self) -> str"), "Where the trace goes; empty when there is none.")
      .def_static("checked_host", &checked_host, "devices"_a, nb::kw_only(), "seeds"_a, "first_seed"_a, "threads"_a)
      .def("checked", &checked, nb::sig("def checked(self) -> dict[str, typing.Any]"))
      .def("close", &bound_machine::close,
           "Gives the devices up; what was made on the machine goes on. A second time is nothing; any other use is an "
           "ArgumentError.")
      .def(
          "shared", [](self_t& self) { return bound_machine(self.get()); },
          "The same machine, which stays open when this one is closed.")
      .def(
          "__enter__",
          [](nb::handle self) {
            (void)nb::cast<bound_machine&>(self).get();
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> Machine"))
      .def(
          "__exit__", [](self_t& self, nb::args) { self.close(); },
          nb::sig("def __exit__(self, *error: object) -> None"))
      .def("__len__", [](self_t& self) { return self.get().size(); })
      .def("__repr__", &describe)
      .def("_repr_html_", &html, nb::sig("def _repr_html_(self) -> str"));
  bind_injection(c);
}

}  // namespace starling::python
