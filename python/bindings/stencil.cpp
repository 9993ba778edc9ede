#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <tuple>

#include "array_argument.hpp"
#include "bindings.hpp"
#include "stencil/plan/cost_file.hpp"
#include "stencil/plan/tune.hpp"
#include "stencil/solver.hpp"
#include "turns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

using stencil::run_options;
using stencil::run_result;

template <class T>
stencil::problem<T> make_problem(const std::vector<index_t>& shape, const std::vector<double>& coefficients,
                                 const std::vector<bool>& periodic, const std::vector<int>& split) {
  stencil::problem<T> p;
  p.shape = shape;
  for (const double c : coefficients) p.coefficients.push_back(static_cast<T>(c));
  for (const bool wraps : periodic) p.edges.push_back(wraps ? stencil::edge::periodic : stencil::edge::fixed);
  p.parts = split;
  return p;
}

// A solver for Python: calls from several threads take turns.
template <class T>
class bound_solver {
 public:
  bound_solver(const machine& m, const stencil::problem<T>& p)
      : shape_(p.shape), on_gpus_(m.kind() == machine_kind::cuda), turns_(on_gpus_), solver_(m, p) {}

  void load(nb::handle u) {
    const array_argument a = array_of(u, wish(false), "u");
    const nb::gil_scoped_release unlocked;
    const turn mine(turns_, "the solver", false);
    solver_.load(static_cast<const T*>(a.data));
  }

  void store(nb::handle out) {
    const array_argument a = array_of(out, wish(true), "out");
    const nb::gil_scoped_release unlocked;
    const turn mine(turns_, "the solver", false);
    solver_.store(static_cast<T*>(a.data));
  }

  run_result advance(const run_options& options) {
    const nb::gil_scoped_release unlocked;
    const turn mine(turns_, "the solver");
    return solver_.advance(options);
  }

 private:
  array_wish wish(bool writable) const { return {shape_, sizeof(T), writable, on_gpus_}; }

  std::vector<index_t> shape_;
  bool on_gpus_;
  turns turns_;
  stencil::solver<T> solver_;
};

template <class T>
void bind_solver(nb::module_& m, const char* name) {
  using solver = bound_solver<T>;
  nb::class_<solver>(m, name)
      .def(
          "__init__",
          [](solver* self, bound_machine& on, const std::vector<index_t>& shape,
             const std::vector<double>& coefficients, const std::vector<bool>& periodic,
             const std::vector<int>& split) {
            const machine where = on.get();
            const nb::gil_scoped_release unlocked;
            new (self) solver(where, make_problem<T>(shape, coefficients, periodic, split));
          },
          "machine"_a, "shape"_a, "coefficients"_a, "periodic"_a, "split"_a)
      .def("load", &solver::load, "u"_a.none(), "Copies the whole array in.")
      .def("store", &solver::store, "out"_a.none(), "Copies the whole array out.")
      .def(
          "advance",
          [](solver& self, const std::string& variant, index_t steps, index_t check_every, double tolerance, int blocks,
             int threads, int depth, index_t packet_bytes, bool compute, double deadline) {
            return self.advance({.how = stencil::variant_named(variant),
                                 .steps = steps,
                                 .check_every = check_every,
                                 .tolerance = tolerance,
                                 .blocks = blocks,
                                 .threads = threads,
                                 .packet_bytes = packet_bytes,
                                 .depth = depth,
                                 .compute = compute,
                                 .deadline = deadline});
          },
          "variant"_a, "steps"_a, nb::kw_only(), "check_every"_a = 0, "tolerance"_a = 0.0, "blocks"_a = 0,
          "threads"_a = 0, "depth"_a = 0, "packet_bytes"_a = -1, "compute"_a = true, "deadline"_a = 0.0);
}

// What auto would take of the devices of a machine: variant, devices, depth, microseconds, reason.
template <class T>
stencil::variant_choice choose(const machine& m, const std::vector<index_t>& shape, const std::vector<bool>& periodic) {
  const auto any = stencil::jacobi_coefficients<double>(static_cast<int>(shape.size()));
  return stencil::choose_devices(make_problem<T>(shape, any, periodic, {}), m.size(), stencil::limits_of(m),
                                 stencil::costs_of(m.kind(), stencil::tuned_device(m), m.device(0).pes_on_gpu), {});
}

void bind_costs(nb::module_& m) {
  m.def(
      "choose_stencil",
      [](bound_machine& on, const std::vector<index_t>& shape, const std::vector<bool>& periodic, bool wide) {
        const machine& where = on.get();
        const auto c = wide ? choose<double>(where, shape, periodic) : choose<float>(where, shape, periodic);
        return std::tuple(std::string(stencil::name(c.how)), c.devices, c.depth, c.us, c.why);
      },
      "machine"_a, "shape"_a, "periodic"_a, "float64"_a);
  m.def(
      "tune_stencil",
      [](bound_machine& on, double seconds) {
        const machine where = on.get();
        const nb::gil_scoped_release unlocked;
        const std::string path = stencil::cost_file(where.kind(), where.device(0).pes_on_gpu);
        const std::string device = stencil::tuned_device(where);
        const stencil::step_costs c = stencil::tune(where, seconds, [] {
          const nb::gil_scoped_acquire locked;
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
        });
        stencil::write_costs(path, c, device);
        return std::tuple(path, device, stencil::by_name(c));
      },
      "machine"_a, "seconds"_a, "Measures the costs, writes their file; gives its name, the device and the costs.");
}

}  // namespace

void bind_stencil(nb::module_& m) {
  nb::class_<run_result>(m, "RunResult", "What one call of advance did.")
      .def_ro("steps", &run_result::steps)
      .def_ro("change", &run_result::change,
              "The largest change of a cell in the last step checked; NaN without a convergence check.")
      .def_ro("converged", &run_result::converged)
      .def_ro("seconds", &run_result::seconds)
      .def_ro("blocks", &run_result::blocks)
      .def_ro("threads", &run_result::threads)
      .def_ro("depth", &run_result::depth, "Steps between two exchanges.")
      .def_prop_ro(
          "variant", [](const run_result& r) { return std::string(stencil::name(r.how)); }, "That ran.")
      .def_ro("why", &run_result::why, "Of auto: what was expected of each variant; also why another one ran.");
  bind_costs(m);
  bind_solver<float>(m, "StencilF32");
  bind_solver<double>(m, "StencilF64");
  m.def("jacobi_coefficients", &stencil::jacobi_coefficients<double>, "dimensions"_a);
  m.def("heat_coefficients", &stencil::heat_coefficients<double>, "dimensions"_a, "ratio"_a);
  m.def(
      "check_geometry",
      [](const std::vector<index_t>& shape, const std::vector<bool>& periodic, const std::vector<int>& split,
         int devices) {
        const auto dimensions = static_cast<int>(shape.size());
        const auto any = stencil::jacobi_coefficients<double>(dimensions > 0 ? dimensions : 1);
        (void)stencil::geometry_of(make_problem<double>(shape, any, periodic, split), devices);
      },
      "shape"_a, "periodic"_a, "split"_a, "devices"_a,
      "Raises ArgumentError, with the reason, when the domain cannot be partitioned over so many devices.");
  m.def(
      "variants",
      [] {
        using stencil::variant;
        std::vector<std::string> names;
        for (const variant v : {variant::resident, variant::temporal, variant::cpu_free, variant::graph, variant::p2p,
                                variant::overlap, variant::copy, variant::automatic})
          names.push_back(stencil::name(v));
        return names;
      },
      "The names of the variants, the most autonomous first; at last the one that chooses.");
}

}  // namespace starling::python
