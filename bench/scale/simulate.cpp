// What programs of the applications take in a discrete-event simulation: the kernels themselves on virtual devices, in
// the order of check mode's clock. Prints a JSON object.
//
//   simulate --application A --shape 2048x2048 --pes 16 --computing NS --costs own.packet=270,.. [--steps 6]
//
// A: stencil, "stencil by signals", cg, pagerank, and of one block on each PE all_reduce and "sum by levels".
// --shape: of the stencil's domain (float32), of the grid of CG's 5-point rows (float64), or of PageRank's graph (the
// vertices and the edges of each, at random). --computing: ns that a PE's computing takes in a step, between its calls;
// not given: none.
// --costs: names and values of simulation_costs, of one of its flights as own.packet; those left out are 0, and rates
// without a limit.
//
// A step's time is what one more step adds. The memory's rate is found from the same program without flights: what it
// then takes is computing alone, but for its calls, which do not change with the rate.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "command_line.hpp"
#include "json_line.hpp"
#include "pagerank/pagerank.hpp"
#include "scale/meetings.hpp"
#include "stencil/solver.hpp"

namespace st = starling;
using starling::index_t;

namespace {

// Steps of an application on a machine; returns the ns that they took by the clock.
using steps_on = std::function<double(st::machine m, index_t steps)>;

template <class F>
double time_of(const st::machine& m, const F& work) {
  const double before = m.checked().simulated_ns;
  work();
  return m.checked().simulated_ns - before;
}

// `by_packets`: faces as GPUs send them, if they are not too large; otherwise each is a put and a signal.
steps_on stencil_of(const std::vector<index_t>& shape, bool by_packets) {
  index_t cells = 1;
  for (const index_t extent : shape) cells *= extent;
  const std::vector<float> u(static_cast<std::size_t>(cells), 1.0f);
  return [=](const st::machine& m, index_t steps) {
    const auto dimensions = static_cast<int>(shape.size());
    st::stencil::solver<float> s(m, {shape, st::stencil::jacobi_coefficients<float>(dimensions), {}, {}});
    s.load(u.data());
    st::stencil::run_options o{.how = st::stencil::variant::cpu_free, .steps = steps};
    o.packet_bytes = by_packets ? st::stencil::most_packet_bytes({}, st::machine_kind::cuda) : 0;
    return time_of(m, [&] { (void)s.advance(o); });
  };
}

// Fused: one sum an iteration. Nothing is kept in shared memory, so that all that a block touches is counted.
steps_on cg_of(const std::vector<index_t>& shape) {
  const auto a = std::make_shared<st::cg::csr<double>>(st::cg::grid_2d<double>(shape.at(0), shape.at(1)));
  return [a](const st::machine& m, index_t steps) {
    st::cg::solver<double> s(m, a->view());
    std::minstd_rand draw(1);
    std::vector<double> b(static_cast<std::size_t>(a->rows()));
    for (double& v : b) v = static_cast<double>(draw());
    std::vector<double> x(b.size());
    st::cg::solve_options o{.how = st::cg::method::fused, .max_iterations = steps, .fixed = true};
    o.keep_bytes = 0;
    return time_of(m, [&] { (void)s.solve(b.data(), x.data(), o); });
  };
}

// Every vertex has as many edges from vertices that are drawn.
steps_on pagerank_of(const std::vector<index_t>& shape) {
  const index_t vertices = shape.at(0);
  const index_t edges = shape.at(1);
  const auto a = std::make_shared<st::sparse::csr<float>>();
  a->columns = vertices;
  std::minstd_rand draw(1);
  std::vector<float> out(static_cast<std::size_t>(vertices));
  for (index_t i = 0; i < vertices; ++i) {
    std::vector<std::int32_t> from;
    for (index_t k = 0; k < edges; ++k)
      from.push_back(static_cast<std::int32_t>(draw() % static_cast<unsigned>(vertices)));
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
    for (const std::int32_t v : from) {
      a->column.push_back(v);
      a->value.push_back(1);
      out[static_cast<std::size_t>(v)] += 1;
    }
    a->row_start.push_back(static_cast<index_t>(a->column.size()));
  }
  return [=](const st::machine& m, index_t steps) {
    st::pagerank::solver<float> s(m, a->view(), out.data());
    std::vector<float> ranks(static_cast<std::size_t>(vertices), 1.0f / static_cast<float>(vertices));
    return time_of(m, [&] { (void)s.solve(ranks.data(), nullptr, nullptr, {.max_iterations = steps, .fixed = true}); });
  };
}

// Of two numbers.
steps_on shipped_sums() {
  return [](st::machine m, index_t steps) { return time_of(m, [&] { m.run(1, st::bench::shipped_sums{steps}); }); };
}

steps_on sums_by_levels() {
  return [](st::machine m, index_t steps) {
    const auto boxes = m.allocate<st::packet>(st::bench::sums_by_levels::boxes);
    const auto result = m.allocate<double>(1);
    for (int pe = 0; pe < m.size(); ++pe)
      m.fill(boxes.on(pe), 0, st::bench::sums_by_levels::boxes * sizeof(st::packet));
    const double time = time_of(m, [&] { m.run(1, st::bench::sums_by_levels{steps, boxes.data(), result.data()}); });
    double sum = 0;
    m.copy(&sum, result.on(m.size() - 1), sizeof sum);
    st::expect<st::error>(sum == m.size(), "the sum by levels is ", sum, " on ", m.size(), " PEs");
    return time;
  };
}

std::vector<index_t> shape_named(const std::string& text) {
  std::vector<index_t> shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    index_t extent = 0;
    const auto read = std::from_chars(at, end, extent);
    st::expect<st::argument_error>(read.ec == std::errc{} && extent > 0, "--shape ", text, "; must be as 2048x2048");
    shape.push_back(extent);
    at = read.ptr + (read.ptr != end && *read.ptr == 'x' ? 1 : 0);
  }
  return shape;
}

steps_on application_named(const std::string& name, const std::vector<index_t>& shape) {
  if (name == "stencil" || name == "stencil by signals") return stencil_of(shape, name == "stencil");
  if (name == "cg") return cg_of(shape);
  if (name == "pagerank") return pagerank_of(shape);
  if (name == "all_reduce") return shipped_sums();
  if (name == "sum by levels") return sums_by_levels();
  throw st::argument_error("--application " + name + "; must be one of those at the top of simulate.cpp");
}

st::simulation_costs costs_named(const std::vector<std::string>& given, int& pes_per_host) {
  st::simulation_costs c;
  double per_host = 0;
  std::map<std::string, double*> all = {{"call", &c.call},
                                        {"packet_call", &c.packet_call},
                                        {"next_sender", &c.next_sender},
                                        {"meeting", &c.meeting},
                                        {"pes_per_host", &per_host}};
  const std::map<std::string, st::flight_costs*> ways = {{"own", &c.own}, {"host", &c.host}, {"between", &c.between}};
  for (const auto& [name, way] : ways) {
    all[name + ".packet"] = &way->packet;
    all[name + ".signal"] = &way->signal;
    all[name + ".message"] = &way->message;
    all[name + ".rate"] = &way->rate;
  }
  for (const std::string& item : given) {
    const std::size_t equals = item.find('=');
    const auto found = all.find(item.substr(0, equals));
    st::expect<st::argument_error>(equals != std::string::npos && found != all.end(), "--costs ", item,
                                   "; must be as own.packet=270");
    *found->second = std::strtod(item.c_str() + equals + 1, nullptr);
  }
  c.pes_per_host = pes_per_host = static_cast<int>(per_host);
  return c;
}

st::simulation_costs without_flights(st::simulation_costs c, double memory_rate) {
  c.own = c.host = c.between = {};
  c.next_sender = c.meeting = c.packet_call = 0;
  c.memory_rate = memory_rate;
  return c;
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(
      argc, argv, {"--application", "--shape", "--pes", "--computing", "--costs", "--steps", "--memory"});
  const std::string name = given.text("--application", "stencil");
  const std::string shape = given.text("--shape", "256x256");
  const int pes = static_cast<int>(given.number("--pes", 4));
  const auto steps = static_cast<index_t>(given.number("--steps", 6));
  const double computing = given.number("--computing", 0);
  int pes_per_host = 0;
  st::simulation_costs costs = costs_named(given.list("--costs", "call=1"), pes_per_host);
  const steps_on work = application_named(name, shape_named(shape));
  const auto bytes = static_cast<std::size_t>(given.number("--memory", 64)) << 20;
  st::machine m = st::machine::host(pes, {.memory_bytes = bytes});
  const auto step_ns = [&](const st::simulation_costs& c) {
    m = m.check({.clock = c});
    return (work(m, 2 * steps) - work(m, steps)) / static_cast<double>(steps);
  };
  double touched = 0;
  if (computing > 0) {
    constexpr double rate = 1;  // bytes per ns
    touched = step_ns(without_flights(costs, rate / 2)) - step_ns(without_flights(costs, rate));
    costs.memory_rate = touched / computing;
  }
  const double step = step_ns(costs);
  const st::check_summary made = m.checked();
  st::bench::json_line("simulation")
      .add("application", name)
      .add("shape", shape)
      .add("pes", pes)
      .add("pes_per_host", pes_per_host)
      .add("steps", steps)
      .add("computing_us", computing / 1000)
      .add("touched_bytes", touched)
      .add("us", step / 1000)
      .add("calls", made.calls)
      .add("seconds", made.seconds)
      .print();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "simulate: %s\n", e.what());
  return 1;
}
