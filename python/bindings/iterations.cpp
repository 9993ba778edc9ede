// The programs that iterate over regions: PageRank, shortest paths, Jacobi's method. starling/_native_regions.py says
// what each takes and gives; arrays are checked there.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>
#include <variant>

#include "bindings.hpp"
#include "jacobi/jacobi.hpp"
#include "pagerank/pagerank.hpp"
#include "region_options.hpp"
#include "sssp/sssp.hpp"
#include "turns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

template <class T>
using values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using rows_of_values = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using starts = values<index_t>;
using places = values<std::int32_t>;

// An array that may be None.
template <class T>
const T* data_of(const nb::object& array, std::size_t size, const char* name) {
  if (array.is_none()) return nullptr;
  const auto a = nb::cast<values<T>>(array);
  expect<argument_error>(a.size() == size, name, " has ", a.size(), " elements, not ", size);
  return a.data();
}

template <class T>
nb::object array_from(std::vector<T>&& v) {
  auto* kept = new std::vector<T>(std::move(v));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// How what one PE computes comes to the others, as Python names it.
sparse::iteration_options options_for(const std::string& agent, std::size_t chunk_bytes, int agent_blocks,
                                      double deadline, const nb::dict& measuring) {
  sparse::iteration_options o;
  o.agent = agent_named(agent);
  if (chunk_bytes != 0) o.chunk_bytes = chunk_bytes;
  o.agent_blocks = agent_blocks;
  o.deadline = deadline;
  add_measuring(o, measuring);
  return o;
}

// Calls Python between two stretches of iterations. What it raises, or Ctrl-C, ends them, and is raised again later.
class watcher {
 public:
  watcher(nb::handle f, turn& during) : function_(f), turn_(during) {}

  bool operator()(index_t iterations, double value) {
    return turn_.pausing([&] {
      const nb::gil_scoped_acquire locked;
      try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!function_.is_none()) function_(iterations, value);
      } catch (...) {
        raised_ = std::current_exception();
      }
      return raised_ == nullptr;
    });
  }
  void raise() {
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
  }

 private:
  nb::handle function_;
  turn& turn_;
  std::exception_ptr raised_;
};

// work(watch) without the interpreter lock, while nobody else uses the GPUs.
template <class Work>
void run(const machine& m, nb::handle watch, const Work& work) {
  std::exception_ptr raised;
  {
    const nb::gil_scoped_release unlocked;
    turns one(m.kind() == machine_kind::cuda);
    turn mine(one, "the machine");
    watcher watching(watch, mine);
    work(watching);
    try {
      watching.raise();
    } catch (...) {
      raised = std::current_exception();
    }
  }
  if (raised) std::rethrow_exception(std::exchange(raised, nullptr));
}

nb::dict facts_of(const sparse::iteration_report& r, bool converged, index_t iterations, const char* storage) {
  const std::size_t pes = r.wait_seconds.size();
  nb::list sent;
  for (std::size_t from = 0; from < pes; ++from)
    sent.append(std::vector<std::uint64_t>(r.bytes_sent.begin() + static_cast<std::ptrdiff_t>(from * pes),
                                           r.bytes_sent.begin() + static_cast<std::ptrdiff_t>((from + 1) * pes)));
  nb::dict facts;
  facts["converged"] = converged;
  facts["iterations"] = iterations;
  facts["history"] = r.history;
  facts["seconds"] = r.seconds;
  facts["agent"] = name(r.agent);
  facts["chunk_bytes"] = r.chunk_bytes;
  facts["agent_blocks"] = r.agent_blocks;
  facts["blocks"] = r.blocks;
  facts["threads"] = r.threads;
  facts["tiles"] = r.tiles;
  facts["tiles_skipped"] = r.tiles_skipped;
  facts["first_rows"] = r.first_rows;
  facts["bytes_sent"] = sent;
  facts["wait_seconds"] = r.wait_seconds;
  facts["storage"] = storage;
  facts["sending"] = name(r.sending);
  facts["links"] = nb::make_tuple(r.links.bytes_per_second, r.links.latency_seconds);
  facts["line_stores"] = nb::make_tuple(r.line_stores_inline, r.line_stores_by_chunk);
  facts["times"] = times_of(r.times);
  return facts;
}

template <class T>
sparse::csr_view<T> rows_from(const starts& row_start, const places& column, const T* value) {
  expect<argument_error>(row_start.size() > 1, "row_start has ", row_start.size(), " elements; give rows + 1");
  const auto rows = static_cast<index_t>(row_start.size()) - 1;
  expect<argument_error>(row_start.data()[rows] == static_cast<index_t>(column.size()), "row_start ends at ",
                         row_start.data()[rows], " and there are ", column.size(), " entries");
  return {rows, rows, row_start.data(), column.data(), value};
}

// A graph as devices are given it, and the caller's arrays, which it may go on to read.
struct bound_graph {
  std::variant<std::shared_ptr<const sparse::ordered_graph<float>>,
               std::shared_ptr<const sparse::ordered_graph<double>>>
      graph;
  nb::object arrays;
};

template <class T>
bound_graph graph_of(const starts& row_start, const places& source, const nb::object& weight, const std::string& order,
                     int devices) {
  const auto edges = rows_from<T>(row_start, source, data_of<T>(weight, source.size(), "weight"));
  const auto numbered = sparse::vertex_order_named(order);
  const nb::gil_scoped_release unlocked;
  return {std::make_shared<const sparse::ordered_graph<T>>(edges, numbered, devices), {}};
}

template <class T>
nb::tuple pagerank_of(machine& m, const std::shared_ptr<const sparse::ordered_graph<T>>& graph,
                      const nb::object& out_weights, const nb::object& teleport, const nb::object& dangling,
                      const nb::object& start, const pagerank::solve_options& how,
                      const sparse::iteration_options& sending, nb::handle watch) {
  const auto& edges = graph->view();
  const auto n = static_cast<std::size_t>(edges.rows);
  const auto out_weight = nb::cast<values<T>>(out_weights);
  expect<argument_error>(out_weight.size() == n, "out_weight has ", out_weight.size(), " elements, not ", n);
  const T* from = data_of<T>(start, n, "start");
  const T* restart = data_of<T>(teleport, n, "teleport");
  const T* loose = data_of<T>(dangling, n, "dangling");
  std::vector<T> ranks(n, static_cast<T>(1.0 / static_cast<double>(n)));
  if (from != nullptr) std::copy(from, from + n, ranks.begin());
  pagerank::result r;
  run(m, watch, [&](watcher& w) {
    pagerank::solver<T> s(m, graph, out_weight.data(), sending);
    r = s.solve(ranks.data(), restart, loose, how,
                [&](const pagerank::progress& p) { return w(p.iterations, p.change); });
  });
  const char* storage = edges.value == nullptr ? "compressed" : sparse::name(r.storage);
  return nb::make_tuple(array_from(std::move(ranks)), facts_of(r.report, r.converged, r.iterations, storage));
}

template <class T>
nb::tuple paths_from(machine& m, const starts& row_start, const places& source, const nb::object& weight,
                     index_t vertex, bool predecessors, const sparse::iteration_options& sending, nb::handle watch) {
  const auto edges = rows_from<T>(row_start, source, data_of<T>(weight, source.size(), "weight"));
  std::vector<T> distances(static_cast<std::size_t>(edges.rows));
  std::vector<std::int32_t> before;
  sssp::result r;
  run(m, watch, [&](watcher& w) {
    sssp::solver<T> s(m, edges, sending);
    r = s.solve(vertex, distances.data(), [&](index_t rounds, double changed) { return w(rounds, changed); });
    if (predecessors) before = sssp::solver<T>::predecessors(edges, vertex, distances.data());
  });
  const char* storage = edges.value == nullptr ? "compressed" : sparse::name(r.storage);
  const nb::dict facts = facts_of(r.report, true, r.rounds, storage);
  const nb::object tree = predecessors ? array_from(std::move(before)) : nb::none();
  return nb::make_tuple(array_from(std::move(distances)), tree, facts);
}

template <class T>
nb::tuple jacobi_of(machine& m, const nb::tuple& matrix, const values<T>& diagonal, const values<T>& b,
                    const nb::object& x0, const jacobi::solve_options& how, const sparse::iteration_options& sending,
                    nb::handle watch) {
  const std::size_t n = b.size();
  expect<argument_error>(diagonal.size() == n && n > 0, "diagonal has ", diagonal.size(), " elements, not ", n);
  std::vector<T> x(n, T{0});
  if (const T* start = data_of<T>(x0, n, "x0")) std::copy(start, start + n, x.begin());
  jacobi::result r;
  const auto solve = [&](auto&& make, const char* storage) {
    run(m, watch, [&](watcher& w) {
      jacobi::solver<T> s = make();
      r = s.solve(b.data(), x.data(), how, [&](const jacobi::progress& p) { return w(p.iterations, p.residual); });
    });
    const nb::dict facts = facts_of(r.report, r.converged, r.iterations, storage);
    return nb::make_tuple(array_from(std::move(x)), facts);
  };
  if (matrix.size() == 3) {
    const auto row_start = nb::cast<starts>(matrix[0]);
    const auto column = nb::cast<places>(matrix[1]);
    const auto value = nb::cast<values<T>>(matrix[2]);
    const auto rows = rows_from<T>(row_start, column, value.data());
    return solve([&] { return jacobi::solver<T>(m, rows, diagonal.data(), sending); }, "compressed");
  }
  const auto offset = nb::cast<places>(matrix[0]);
  const auto value = nb::cast<rows_of_values<T>>(matrix[1]);
  jacobi::diagonals<T> band;
  band.rows = static_cast<index_t>(n);
  for (std::size_t k = 0; k < offset.size(); ++k) {
    band.offsets.push_back(offset.data()[k]);
    band.values.push_back(value.data() + k * n);
  }
  return solve([&] { return jacobi::solver<T>(m, band, diagonal.data(), sending); }, "diagonals");
}

template <class T>
bool is(const nb::object& array) {
  return nb::isinstance<values<T>>(array);
}

}  // namespace

void bind_iterations(nb::module_& m) {
  nb::class_<bound_graph>(m, "OrderedGraph", "The edges that lead to each vertex, ordered for a number of devices.")
      .def(
          "__init__",
          [](bound_graph* g, const starts& row_start, const places& source, const nb::object& weight, bool single,
             const std::string& order, int devices) {
            new (g) bound_graph(single ? graph_of<float>(row_start, source, weight, order, devices)
                                       : graph_of<double>(row_start, source, weight, order, devices));
            g->arrays = nb::make_tuple(row_start, source, weight);
          },
          "row_start"_a, "source"_a, "weight"_a.none(), nb::kw_only(), "single"_a, "order"_a, "devices"_a,
          nb::sig("def __init__(self, row_start: typing.Any, source: typing.Any, weight: typing.Any, *, single: bool, "
                  "order: str, devices: int) -> None"));
  m.def(
      "pagerank",
      [](bound_machine& on, const bound_graph& edges_in, const nb::object& out_weight, const nb::object& teleport,
         const nb::object& dangling, const nb::object& start, double alpha, double tolerance, index_t most_iterations,
         bool fixed, const std::string& agent, std::size_t chunk_bytes, int agent_blocks, double deadline,
         const nb::dict& measuring, nb::handle watch) {
        const auto sending = options_for(agent, chunk_bytes, agent_blocks, deadline, measuring);
        const pagerank::solve_options how{alpha, tolerance, most_iterations, fixed};
        return std::visit(
            [&](const auto& graph) {
              return pagerank_of(on.get(), graph, out_weight, teleport, dangling, start, how, sending, watch);
            },
            edges_in.graph);
      },
      "machine"_a, "edges_in"_a, "out_weight"_a, "teleport"_a.none(), "dangling"_a.none(), "start"_a.none(),
      nb::kw_only(), "alpha"_a, "tolerance"_a, "most_iterations"_a, "fixed"_a, "agent"_a, "chunk_bytes"_a,
      "agent_blocks"_a, "deadline"_a, "measuring"_a, "watch"_a.none(),
      nb::sig("def pagerank(machine: Machine, edges_in: OrderedGraph, "
              "out_weight: typing.Any, teleport: typing.Any, dangling: typing.Any, start: typing.Any, *, "
              "alpha: float, tolerance: float, most_iterations: int, fixed: bool, agent: str, chunk_bytes: "
              "int, agent_blocks: int, "
              "deadline: float, measuring: dict[str, typing.Any], watch: typing.Any) -> tuple[typing.Any, dict[str, "
              "typing.Any]]"));
  m.def(
      "shortest_paths",
      [](bound_machine& on, const starts& row_start, const places& source, const nb::object& weight, index_t vertex,
         bool predecessors, bool single, const std::string& agent, std::size_t chunk_bytes, int agent_blocks,
         double deadline, const nb::dict& measuring, nb::handle watch) {
        const auto sending = options_for(agent, chunk_bytes, agent_blocks, deadline, measuring);
        if (single) return paths_from<float>(on.get(), row_start, source, weight, vertex, predecessors, sending, watch);
        return paths_from<double>(on.get(), row_start, source, weight, vertex, predecessors, sending, watch);
      },
      "machine"_a, "row_start"_a, "source"_a, "weight"_a.none(), "from_vertex"_a, nb::kw_only(), "predecessors"_a,
      "single"_a, "agent"_a, "chunk_bytes"_a, "agent_blocks"_a, "deadline"_a, "measuring"_a, "watch"_a.none(),
      nb::sig("def shortest_paths(machine: Machine, row_start: typing.Any, source: typing.Any, weight: typing.Any, "
              "from_vertex: int, *, predecessors: bool, single: bool, agent: str, chunk_bytes: int, agent_blocks: int, "
              "deadline: float, "
              "measuring: dict[str, typing.Any], watch: typing.Any) -> tuple[typing.Any, typing.Any, dict[str, "
              "typing.Any]]"));
  m.def(
      "jacobi",
      [](bound_machine& on, const nb::tuple& matrix, const nb::object& diagonal, const nb::object& b,
         const nb::object& x0, double target, index_t most_iterations, const std::string& exchange,
         const std::string& agent, std::size_t chunk_bytes, int agent_blocks, double deadline,
         const nb::dict& measuring, nb::handle watch) {
        auto sending = options_for(agent, chunk_bytes, agent_blocks, deadline, measuring);
        sending.halo_only = exchange == "halo";
        const jacobi::solve_options how{.target = target, .max_iterations = most_iterations};
        if (is<float>(b))
          return jacobi_of<float>(on.get(), matrix, nb::cast<values<float>>(diagonal), nb::cast<values<float>>(b), x0,
                                  how, sending, watch);
        return jacobi_of<double>(on.get(), matrix, nb::cast<values<double>>(diagonal), nb::cast<values<double>>(b), x0,
                                 how, sending, watch);
      },
      "machine"_a, "matrix"_a, "diagonal"_a, "b"_a, "x0"_a.none(), nb::kw_only(), "target"_a, "most_iterations"_a,
      "exchange"_a, "agent"_a, "chunk_bytes"_a, "agent_blocks"_a, "deadline"_a, "measuring"_a, "watch"_a.none(),
      nb::sig("def jacobi(machine: Machine, matrix: tuple[typing.Any, ...], diagonal: typing.Any, b: typing.Any, "
              "x0: typing.Any, *, target: float, most_iterations: int, exchange: str, agent: str, chunk_bytes: int, "
              "agent_blocks: int, deadline: float, measuring: dict[str, typing.Any], watch: typing.Any) -> "
              "tuple[typing.Any, dict[str, "
              "typing.Any]]"));
}

}  // namespace starling::python
