// What a task costs the host: time per task of graphs like those of TaskBench, tasks without work (CUDASTF, table I),
// with slices or tokens as data, from one or several threads; or time per task of such a graph recorded once and
// launched again, until all of it is done. One JSON object a line.
//
//   task_overhead [--devices N] [--topologies trivial,tree,fft,sweep,random,stencil] [--data slices,tokens]
//                 [--work none,kernel] [--threads 1,2,4,8] [--width N] [--steps N] [--repetitions N]
//                 [--backends stream,graph,replay] [--fence 1]
//
// --fence 1: the time goes until what was submitted is done.
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "command_line.hpp"
#include "json_line.hpp"
#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;

namespace {

using slice_data = stf::logical_data<stf::slice<double>>;

// The columns of step t - 1 that column i of step t reads, at most three.
struct reads {
  int count = 0;
  int column[3] = {};
  void add(int c) { column[count++] = c; }
};

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

reads read_by(const std::string& topology, int width, int t, int i) {
  reads r;
  if (t == 0 || topology == "trivial") return r;
  if (topology == "tree") {
    // Step t has as many columns as the tree is wide there; they read their parents.
    r.add(i / 2);
  } else if (topology == "fft") {
    int levels = 1;
    while ((1 << levels) < width) ++levels;
    r.add(i);
    const int partner = i ^ (1 << ((t - 1) % levels));
    if (partner < width) r.add(partner);
  } else if (topology == "sweep") {
    r.add(i);
    if (i > 0) r.add(i - 1);
  } else if (topology == "random") {
    for (int k = 0; k < 3; ++k)
      if (mixed(static_cast<std::uint64_t>((t * width + i) * 3 + k) + 1) % 12 < 7)
        r.add(static_cast<int>(mixed(static_cast<std::uint64_t>((t * width + i) * 5 + k) + 7) %
                               static_cast<std::uint64_t>(width)));
  } else if (topology == "stencil") {
    if (i > 0) r.add(i - 1);
    r.add(i);
    if (i + 1 < width) r.add(i + 1);
  }
  return r;
}

template <class Data>
struct columns {
  std::vector<Data> of[2];  // by the step's parity
};

struct touch {
  STARLING_HD void operator()(st::block&) const {}
};

template <class Data>
void submit(stf::context& ctx, columns<Data>& c, const reads& r, int t, int i, bool kernel) {
  const auto body = [kernel](st::stream& s, const auto&...) {
    if (kernel) s.launch(1, touch(), {.threads = 32});
  };
  const auto& before = c.of[(t + 1) % 2];
  const auto source = [&](int k) { return before[static_cast<std::size_t>(r.column[k])].read(); };
  const auto mine = c.of[t % 2][static_cast<std::size_t>(i)].write();
  if (r.count == 0)
    ctx.task(mine)->*body;
  else if (r.count == 1)
    ctx.task(source(0), mine)->*body;
  else if (r.count == 2)
    ctx.task(source(0), source(1), mine)->*body;
  else
    ctx.task(source(0), source(1), source(2), mine)->*body;
}

struct setting {
  int devices, threads, width, steps;
  bool fence;
  std::string topology, data, work, backend;
};

template <class Data>
columns<Data> make_columns(stf::context& ctx, int width) {
  columns<Data> c;
  for (auto& all : c.of)
    for (int i = 0; i < width; ++i) {
      if constexpr (std::is_same_v<Data, stf::token>)
        all.push_back(ctx.token());
      else
        all.push_back(ctx.logical_data(stf::shape_of<stf::slice<double>>(16)));
    }
  return c;
}

template <class Data>
void submit_steps(stf::context& ctx, columns<Data>& c, const setting& s, int steps) {
  for (int t = 0; t < steps; ++t)
    for (int i = 0; i < s.width; ++i) submit(ctx, c, read_by(s.topology, s.width, t, i), t, i, s.work == "kernel");
}

double us_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() * 1e6;
}

// Microseconds per task that is submitted; every thread has columns of its own.
template <class Data>
double submitted(const st::machine& m, const setting& s) {
  stf::context ctx(m, {.backend = s.backend == "graph" ? stf::backend_kind::graph : stf::backend_kind::stream});
  std::vector<columns<Data>> all;
  for (int k = 0; k < s.threads; ++k) all.push_back(make_columns<Data>(ctx, s.width));
  const auto run = [&](int steps) {
    std::vector<std::thread> threads;
    for (auto& c : all) threads.emplace_back([&] { submit_steps(ctx, c, s, steps); });
    for (auto& t : threads) t.join();
  };
  run(2);  // every instance has its memory
  ctx.synchronize();
  const auto start = std::chrono::steady_clock::now();
  run(s.steps);
  if (s.fence) ctx.synchronize();
  const double us = us_since(start);
  ctx.finalize();
  return us / (static_cast<double>(s.threads) * s.width * s.steps);
}

// Microseconds per task of one launch of the recorded graph, until it is done.
template <class Data>
double replayed(const st::machine& m, const setting& s) {
  stf::context ctx(m);
  columns<Data> c = make_columns<Data>(ctx, s.width);
  submit_steps(ctx, c, s, 2);
  double us = 0;
  {
    const stf::recorded_tasks graph = ctx.record([&] { submit_steps(ctx, c, s, s.steps); });
    graph.launch();  // the first one uploads it
    ctx.synchronize();
    const auto start = std::chrono::steady_clock::now();
    graph.launch();
    ctx.synchronize();
    us = us_since(start);
  }
  ctx.finalize();
  return us / (static_cast<double>(s.width) * s.steps);
}

template <class Data>
double once(const st::machine& m, const setting& s) {
  return s.backend == "replay" ? replayed<Data>(m, s) : submitted<Data>(m, s);
}

void measure(const st::machine& m, const setting& s, int repetitions) {
  st::expect<st::argument_error>(s.backend == "stream" || s.backend == "graph" || s.backend == "replay", "--backends ",
                                 s.backend, "; known: stream, graph, replay");
  st::expect<st::argument_error>(s.backend != "replay" || s.threads == 1, "--threads ", s.threads,
                                 " with the backend replay; one thread records");
  std::vector<double> us;
  for (int k = 0; k < repetitions; ++k)
    us.push_back(s.data == "tokens" ? once<stf::token>(m, s) : once<slice_data>(m, s));
  st::bench::json_line(s.backend == "replay" ? "task_replay" : "task_overhead")
      .add("machine", name(m.kind()))
      .add("devices", s.devices)
      .add("topology", s.topology)
      .add("data", s.data)
      .add("work", s.work)
      .add("backend", s.backend)
      .add("threads", s.threads)
      .add("width", s.width)
      .add("steps", s.steps)
      .add("fence", s.fence)
      .add("us", us)
      .print();
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv,
                                      {"--devices", "--topologies", "--data", "--work", "--threads", "--width",
                                       "--steps", "--repetitions", "--backends", "--fence"});
  const st::machine m = st::machine::best(static_cast<int>(given.number("--devices", 1)));
  const int repetitions = static_cast<int>(given.number("--repetitions", 5));
  for (const std::string& topology : given.list("--topologies", "trivial,tree,fft,sweep,random,stencil"))
    for (const std::string& data : given.list("--data", "slices,tokens"))
      for (const std::string& work : given.list("--work", "none"))
        for (const std::string& backend : given.list("--backends", "stream"))
          for (const int threads : given.numbers("--threads", "1"))
            measure(m,
                    {m.size(), threads, static_cast<int>(given.number("--width", 16)),
                     static_cast<int>(given.number("--steps", 300)), given.number("--fence", 0) != 0, topology, data,
                     work, backend},
                    repetitions);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
