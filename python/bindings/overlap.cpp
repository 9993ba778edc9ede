// PROACT's microbenchmark. starling/_microbenchmark.py says what each takes and gives.
#include "overlap/overlap.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "region_options.hpp"
#include "turns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

overlap::destination destination_named(const std::string& to) {
  return to == "host" ? overlap::destination::host : overlap::destination::peers;
}

// work() without the interpreter lock, while nobody else uses the GPUs.
template <class Work>
auto alone(const machine& m, const Work& work) {
  const nb::gil_scoped_release unlocked;
  turns one(m.kind() == machine_kind::cuda);
  const turn mine(one, "the machine");
  return work();
}

nb::dict run_overlap(bound_machine& on, index_t elements, const std::string& to, int work, int runs,
                     const std::string& agent, std::size_t chunk_bytes, std::size_t tile_bytes, int agent_blocks,
                     double deadline, const nb::dict& measuring) {
  overlap::run_options o;
  o.elements = elements;
  o.to = destination_named(to);
  o.agent = agent_named(agent);
  if (chunk_bytes != 0) o.chunk_bytes = chunk_bytes;
  o.tile_bytes = tile_bytes;
  o.agent_blocks = agent_blocks;
  o.deadline = deadline;
  add_measuring(o, measuring);
  struct outcome {
    std::vector<double> seconds, copy_seconds;
    int blocks = 0;
    bool right = false;
    region_report report;
  };
  machine& m = on.get();
  const outcome r = alone(m, [&] {
    overlap::microbenchmark b(m, o);
    outcome all;
    for (int i = 0; i < runs; ++i) {
      const overlap::run_result one = b.run(work);
      all.seconds.push_back(one.seconds);
      all.blocks = one.blocks;
    }
    all.right = b.right();
    all.report = b.report();
    for (int i = 0; i < runs; ++i) all.copy_seconds.push_back(b.copy_seconds());
    return all;
  });
  nb::dict facts;
  facts["seconds"] = r.seconds;
  facts["copy_seconds"] = r.copy_seconds;
  facts["blocks"] = r.blocks;
  facts["threads"] = o.threads;
  facts["right"] = r.right;
  facts["chunks"] = r.report.chunks;
  facts["line_stores"] = nb::make_tuple(r.report.line_stores_inline, r.report.line_stores_by_chunk);
  facts["times"] = times_of(r.report.times);
  return facts;
}

}  // namespace

void bind_overlap(nb::module_& m) {
  m.def("overlap", run_overlap, "machine"_a, "elements"_a, nb::kw_only(), "to"_a, "work"_a, "runs"_a, "agent"_a,
        "chunk_bytes"_a, "tile_bytes"_a, "agent_blocks"_a, "deadline"_a, "measuring"_a,
        nb::sig("def overlap(machine: Machine, elements: int, *, to: str, work: int, runs: int, agent: str, "
                "chunk_bytes: int, tile_bytes: int, agent_blocks: int, deadline: float, "
                "measuring: dict[str, typing.Any]) -> dict[str, typing.Any]"));
  m.def(
      "store_seconds",
      [](bound_machine& on, const std::string& to, index_t elements, index_t run) {
        return alone(on.get(), [&] { return overlap::store_seconds(on.get(), destination_named(to), elements, run); });
      },
      "machine"_a, "to"_a, "elements"_a, "run"_a,
      nb::sig("def store_seconds(machine: Machine, to: str, elements: int, run: int) -> float"));
}

}  // namespace starling::python
