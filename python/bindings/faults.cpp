#include "starling/machine/faults.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arguments.hpp"
#include "bindings.hpp"
#include "starling/base/error.hpp"
#include "starling/machine/machine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

constexpr const char* calls_names[] = {"usual", "user", "control", "all"};

fault_calls calls_named(const std::string& name) {
  for (int i = 0; i < 4; ++i)
    if (name == calls_names[i]) return static_cast<fault_calls>(i);
  throw argument_error(message("calls = '", name, "'; must be 'usual', 'user', 'control' or 'all'"));
}

// A fault by its name; the arguments that its kind does not have are ignored.
fault make(const std::string& kind, std::optional<int> pe, std::optional<int> block, std::int64_t nth,
           std::int64_t times, const std::string& calls, double seconds, std::uint64_t flip) {
  const fault_selector at{pe.value_or(any_pe), block.value_or(any_block), nth, times, calls_named(calls)};
  if (kind == "drop_signal") return drop_signal{at};
  if (kind == "delay_signal") return delay_signal{at, seconds};
  if (kind == "corrupt_epoch") return corrupt_epoch{at, flip};
  if (kind == "kill_block") return kill_block{at};
  if (kind == "slow_pe") return slow_pe{at, seconds};
  if (kind == "lose_link") return lose_link{at};
  if (kind == "fail_allocation") return fail_allocation{nth, times};
  throw argument_error(message("fault '", kind, "'; use the functions of starling.faults"));
}

// As the call of starling.faults that makes it, without what is left at its default.
std::string describe(const fault& f) {
  std::string arguments;
  const auto add = [&arguments](const auto&... parts) {
    arguments += (arguments.empty() ? "" : ", ") + message(parts...);
  };
  const auto add_count = [&add](std::int64_t nth, std::int64_t times) {
    if (nth != 1) add("nth=", nth);
    if (times == 0) add("times=None");
    if (times > 1) add("times=", times);
  };
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.at; }) {
          if (one.at.pe != any_pe) add("pe=", one.at.pe);
          if (one.at.block != any_block) add("block=", one.at.block);
          add_count(one.at.nth, one.at.times);
          if (one.at.calls != fault_calls::usual) add("calls='", calls_names[static_cast<int>(one.at.calls)], "'");
        } else {
          add_count(one.nth, one.times);
        }
        if constexpr (requires { one.seconds; }) add("seconds=", one.seconds);
        if constexpr (requires { one.flip; }) add("flip=0x", std::hex, one.flip);
      },
      f);
  return message(name(f), "(", arguments, ")");
}

void inject(bound_machine& m, nb::handle faults) {
  if (!nb::isinstance<nb::iterable>(faults))
    refuse("faults", faults, "a list of faults made by the functions of starling.faults, or [] for none");
  fault_plan plan;
  for (nb::handle each : nb::borrow<nb::iterable>(faults)) {
    expect<type_error>(nb::isinstance<fault>(each), "inject: element ", plan.faults.size(), " is a ",
                       nb::type_name(each.type()).c_str(), "; pass faults made by the functions of starling.faults");
    plan.faults.push_back(nb::cast<fault>(each));
  }
  m.get().inject(plan);
}

nb::object number_or_none(int n) { return n < 0 ? nb::object(nb::none()) : nb::object(nb::int_(n)); }

}  // namespace

void bind_faults(nb::module_& m) {
  nb::class_<fault>(m, "Fault", "A fault for a machine of virtual devices; made by the functions of starling.faults.")
      .def_static("make", &make, "kind"_a, "pe"_a.none(), "block"_a.none(), "nth"_a, "times"_a, "calls"_a, "seconds"_a,
                  "flip"_a)
      .def_prop_ro(
          "kind", [](const fault& f) { return starling::name(f); },
          "Which it is: \"drop_signal\", \"delay_signal\", \"corrupt_epoch\", \"kill_block\", \"slow_pe\", "
          "\"lose_link\" or \"fail_allocation\".")
      .def("__repr__", &describe);
  nb::class_<fired_fault>(m, "FiredFault", "A fault that has happened: where first, and how often.")
      .def_ro("index", &fired_fault::index, "Its number in the plan.")
      .def_ro("kind", &fired_fault::kind)
      .def_ro("times", &fired_fault::times, "How often so far.")
      .def_prop_ro(
          "pe", [](const fired_fault& f) { return number_or_none(f.pe); }, nb::sig("def pe(self) -> int | None"),
          "Whose block made the call; None for an allocation.")
      .def_prop_ro(
          "block", [](const fired_fault& f) { return number_or_none(f.block); },
          nb::sig("def block(self) -> int | None"))
      .def_prop_ro(
          "operation", [](const fired_fault& f) { return starling::name(f.op); },
          "The call: \"put\" (signals too), \"wait\", ...")
      .def_prop_ro(
          "peer", [](const fired_fault& f) { return number_or_none(f.peer); }, nb::sig("def peer(self) -> int | None"),
          "The PE on which the call worked.")
      .def_ro("file", &fired_fault::file)
      .def_ro("line", &fired_fault::line)
      .def("__str__", &fired_fault::text)
      .def("__repr__", [](const fired_fault& f) { return message("<starling.FiredFault: ", f.text(), ">"); });
}

void bind_injection(nb::class_<bound_machine>& m) {
  m.def("inject", &inject, "faults"_a.none(),
        nb::sig("def inject(self, faults: collections.abc.Iterable[Fault]) -> None"),
        "Puts faults into force, instead of those before, for virtual devices; see starling.faults. An empty list "
        "removes all.\n\nRaises:\n    ArgumentError: A fault makes no sense on this machine.\n"
        "    ElementTypeError: An element is no fault.\n    Unsupported: The machine has GPUs.")
      .def(
          "faults_fired", [](bound_machine& self) { return self.get().faults_fired(); },
          nb::sig("def faults_fired(self) -> list[FiredFault]"),
          "What of the faults in force has happened so far, in their order.");
}

}  // namespace starling::python
