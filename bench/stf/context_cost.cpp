// What a context costs the host: time to make and finalize one that submits nothing, or one with a task and its data,
// with streams, memory and graphs of its own or with those of resources that contexts share. One JSON object a line.
//
//   context_cost [--devices 1,2,4,...] [--contexts N] [--repetitions N]
#include <chrono>
#include <optional>

#include "command_line.hpp"
#include "json_line.hpp"
#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using stf::slice;

namespace {

void one(const st::machine& m, const stf::context_options& options, int tasks) {
  stf::context ctx(m, options);
  if (tasks > 0) {
    auto d = ctx.logical_data(stf::shape_of<slice<double>>(1000));
    ctx.task(d.write())->*[](st::stream& s, slice<double> v) { s.fill(v.data_handle(), 0, sizeof(double)); };
  }
  ctx.finalize();
}

// Microseconds for each of so many contexts, one after the other.
double measured(const st::machine& m, const stf::context_options& options, int tasks, int contexts) {
  one(m, options, tasks);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < contexts; ++i) one(m, options, tasks);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / contexts;
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--devices", "--contexts", "--repetitions"});
  const int contexts = static_cast<int>(given.number("--contexts", 100));
  const int repetitions = static_cast<int>(given.number("--repetitions", 5));
  for (const int devices : given.numbers("--devices", "1")) {
    const st::machine m = st::machine::best(devices);
    for (const auto& [backend, called] :
         {std::pair(stf::backend_kind::stream, "stream"), std::pair(stf::backend_kind::graph, "graph")})
      for (const int tasks : {0, 1})
        for (const bool shared : {false, true}) {
          stf::context_options options{.backend = backend};
          if (shared) options.resources = stf::resources(m);
          std::vector<double> us;
          for (int k = 0; k < repetitions; ++k) us.push_back(measured(m, options, tasks, contexts));
          st::bench::json_line("context_cost")
              .add("machine", name(m.kind()))
              .add("devices", devices)
              .add("backend", called)
              .add("tasks", tasks)
              .add("shared", shared)
              .add("us", us)
              .print();
        }
  }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
